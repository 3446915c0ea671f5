"""All settings, from environment variables; `manage.py settings_table` lists them.

Page sizes, limits and time-outs stand in `limits.py` of each app.
"""

from importlib.metadata import distribution
from pathlib import Path

import dj_database_url
from django.urls import reverse

from evalhub.logs import configuration
from evalhub.settings.api import REST_FRAMEWORK, SPECTACULAR_SETTINGS  # noqa: F401
from evalhub.settings.background_work import EVALHUB_EVERY_MINUTE, EVALHUB_WORK  # noqa: F401
from evalhub.settings.environment import env
from evalhub.settings.pages import SEARCHED, UNFOLD  # noqa: F401
from evalhub.settings.security import *  # noqa: F403

BASE_DIR = Path(__file__).resolve().parents[2]
INSECURE_SECRET_KEY = "insecure-key-for-debugging-only"

# Environment variables ---------------------------------------------------------------------------

DEBUG = env.flag("EVALHUB_DEBUG", False, "Debug pages and relaxed checks; never in production.")
SECRET_KEY = env.secret(
    "EVALHUB_SECRET_KEY",
    INSECURE_SECRET_KEY,
    "Signs sessions and queued tasks: 50 random characters, the same for web and workers. Required "
    "outside debug.",
)
ALLOWED_HOSTS = env.listing(
    "EVALHUB_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]", "Host names of the site."
)
CSRF_TRUSTED_ORIGINS = env.listing(
    "EVALHUB_TRUSTED_ORIGINS", "", "Origins behind a proxy, such as `https://evalhub.example.org`."
)
HTTPS = env.flag(
    "EVALHUB_HTTPS", False, "A proxy serves the site over HTTPS: secure cookies, HSTS."
)
EVALHUB_SESSION_HOURS = env.number(
    "EVALHUB_SESSION_HOURS", 168, "Hours after a login until the user must log in again.", least=1
)
EVALHUB_OIDC_ISSUER = env.text(
    "EVALHUB_OIDC_ISSUER",
    "",
    "OpenID Connect provider, such as `https://login.example.org/realms/lab`; empty: passwords.",
)
OIDC_RP_CLIENT_ID = env.text("EVALHUB_OIDC_CLIENT_ID", "", "This site's id at that provider.")
OIDC_RP_CLIENT_SECRET = env.secret("EVALHUB_OIDC_CLIENT_SECRET", "", "Its secret there.")
EVALHUB_OIDC_ROLE = env.text(
    "EVALHUB_OIDC_ROLE", "", "Role of accounts made at the first such login; empty: none are made."
)
EVALHUB_PROXIES = env.number(
    "EVALHUB_PROXIES",
    0,
    "Proxies in front of the site that append to X-Forwarded-For, for the client's address.",
)
IS_SOURCE = (BASE_DIR / "manage.py").exists()
DATA_DIR = Path(
    env.text(
        "EVALHUB_DATA_DIR",
        str((BASE_DIR if IS_SOURCE else Path.cwd()) / "data"),
        "Folder of the SQLite database.",
    )
)
DATABASE_URL = env.secret(
    "DATABASE_URL", "", "`postgres://user:password@host/name`; empty: SQLite in the data folder."
)
TIME_ZONE = env.text("EVALHUB_TIME_ZONE", "UTC", "Time zone of the pages.")
EVALHUB_ALLOWED_ADDRESSES = env.listing(
    "EVALHUB_ALLOWED_ADDRESSES",
    "",
    "Private addresses that models may use: `host`, `host:port` or CIDR range.",
)
EVALHUB_KEYS = env.listing(
    "EVALHUB_KEYS",
    "",
    "Variables with keys or webhook secrets and the only hosts each may go to: "
    "`OPENAI_API_KEY@api.openai.com, LLM_KEY@llm.internal:8000`.",
)
EVALHUB_TRUSTED_ADDRESSES = env.listing(
    "EVALHUB_TRUSTED_ADDRESSES",
    "localhost,127.0.0.0/8,::1",
    "Trusted network for sealed tests, without exposure: `host`, `host:port` or CIDR range.",
)
EVALHUB_WORKERS = env.number(
    "EVALHUB_WORKERS", 1, "Worker processes that `manage.py worker` starts.", least=1
)
EVALHUB_REDIS_URL = env.secret(
    "EVALHUB_REDIS_URL",
    "",
    "Redis that wakes waiting workers at once, such as `redis://host:6379/0`. It holds no work. "
    "Needs the package `redis`.",
)
EVALHUB_SLICE_S = env.number(
    "EVALHUB_SLICE_S", 600, "Seconds that a worker process works per queue task.", least=1
)
EVALHUB_LEASE_S = env.number(
    "EVALHUB_LEASE_S", 20, "Seconds without a heartbeat after which a worker is dead.", least=2
)
EVALHUB_LONGEST_CALL_S = env.number(
    "EVALHUB_LONGEST_CALL_S", 600, "Upper bound of a language model's time-out.", least=1
)
EVALHUB_MODEL_PORT = env.number(
    "EVALHUB_MODEL_PORT", 8177, "Port of the embedded model on 127.0.0.1.", least=1
)
EVALHUB_DEMO_MODEL = env.text(
    "EVALHUB_DEMO_MODEL", "", "LiteLLM model id for the demo; empty: the embedded model."
)
EVALHUB_DEMO_BASE_URL = env.text(
    "EVALHUB_DEMO_BASE_URL", "", "Base URL of the demo's model; empty: the provider's own."
)
EVALHUB_DEMO_KEY_VARIABLE = env.text(
    "EVALHUB_DEMO_KEY_VARIABLE",
    "",
    "Name of the variable with the API key of the demo's model; without a base URL, list it in "
    "`EVALHUB_KEYS` too.",
)
EVALHUB_TRY_LIMIT_USD = env.number(
    "EVALHUB_TRY_LIMIT_USD",
    5,
    "US dollars that each user may spend per day on trying tests; 0 allows only free models.",
)
EVALHUB_DRAFT_LIMIT_USD = env.number(
    "EVALHUB_DRAFT_LIMIT_USD",
    5,
    "US dollars that each user may spend per day on drafts of tests and on edits by a model; 0 "
    "allows only free models.",
)
EVALHUB_KEEP_TEXTS_DAYS = env.number(
    "EVALHUB_KEEP_TEXTS_DAYS",
    0,
    "Days after which the texts of answers and replies are removed; 0 keeps them. Scores stay.",
)
EVALHUB_KNOWN_VERDICTS_DAYS = env.number(
    "EVALHUB_KNOWN_VERDICTS_DAYS",
    30,
    "Days for which a verdict may be taken for an equal request of a later run; 0: never.",
)
EVALHUB_IMAGE_MB = env.number(
    "EVALHUB_IMAGE_MB", 5, "Megabytes that an image of a test or of feedback may have.", least=1
)
EVALHUB_IMAGE_MEGAPIXELS = env.number(
    "EVALHUB_IMAGE_MEGAPIXELS", 25, "Million pixels that such an image may have.", least=1
)
EVALHUB_SITE_URL = env.text(
    "EVALHUB_SITE_URL",
    "",
    "Address of the site for links in notifications: `https://hub.example.org`.",
)
EVALHUB_OPEN_LINKS = env.flag(
    "EVALHUB_OPEN_LINKS",
    False,
    "Schedules of reports may send links that open without an account. Turned off, none opens.",
)
EVALHUB_OPEN_LINK_DAYS = env.number(
    "EVALHUB_OPEN_LINK_DAYS", 14, "Days for which such a link opens.", least=1
)
EMAIL_HOST = env.text("EVALHUB_EMAIL_HOST", "", "Mail server; empty: no e-mails.")
EMAIL_PORT = env.number("EVALHUB_EMAIL_PORT", 587, "Port of the mail server.", least=1)
EMAIL_HOST_USER = env.text("EVALHUB_EMAIL_USER", "", "Username at the mail server; empty: none.")
EMAIL_HOST_PASSWORD = env.secret("EVALHUB_EMAIL_PASSWORD", "", "Password at the mail server.")
EMAIL_USE_TLS = env.flag("EVALHUB_EMAIL_TLS", True, "STARTTLS with the mail server.")
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.text(
    "EVALHUB_EMAIL_FROM", "evalhub@localhost", "Sender address of e-mails."
)
EVALHUB_METRICS_TOKEN = env.secret(
    "EVALHUB_METRICS_TOKEN",
    "",
    "At least 20 characters that Prometheus sends to read `/metrics`; empty: no metrics.",
)
LOG_LEVEL = env.text("EVALHUB_LOG_LEVEL", "INFO", "DEBUG, INFO, WARNING or ERROR.")
LOG_FORMAT = env.choice(
    "EVALHUB_LOG_FORMAT", ("text", "json"), "Lines of the log: `text` or `json`, one object each."
)
env.refuse_unknown()

# Applications ------------------------------------------------------------------------------------

EVALHUB_OPEN_APPS = ("pairwise", "position_bias", "trials")
"""Apps of the laboratory that every role may read, and maintainers use: `evalhub.access.roles`."""

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "unfold.contrib.forms",
    "unfold.contrib.inlines",
    "unfold.contrib.simple_history",
    "evalhub.admin_site.site.SiteAdminConfig",
    "django.forms",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_filters",
    "django_q",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
    "simple_history",
    "evalhub",
    "issues",
    "runs",
    "runs.review",
    "runs.laboratory.tuning",
    "runs.laboratory.workbench",
    *(f"runs.laboratory.{app}" for app in EVALHUB_OPEN_APPS),
    "reports",
]

MIDDLEWARE = [
    "evalhub.operations.health.answer_probes",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "evalhub.http.middleware.CompressPages",
    "evalhub.logs.number_requests",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "evalhub.http.middleware.WithSlash",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "evalhub.access.tokens.open_reports",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "evalhub.http.error_pages.explain_refusals",
    "evalhub.access.request_limits.LimitPages",
    "simple_history.middleware.HistoryRequestMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "evalhub.urls"
WSGI_APPLICATION = "evalhub.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
        },
    },
]

FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

# Database ----------------------------------------------------------------------------------------

SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 30,
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
        " PRAGMA cache_size=-64000; PRAGMA temp_store=MEMORY"
    ),
}
if DATABASE_URL:
    DATABASES = {
        "default": dj_database_url.parse(DATABASE_URL, conn_max_age=60, conn_health_checks=True)
    }
else:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(DATA_DIR / "evalhub.sqlite3"),
            "CONN_MAX_AGE": 60,
        }
    }
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    # Computed report content and counts of requests, shared by all processes.
    "computed": {"BACKEND": "evalhub.values.database_cache.JSONCache"},
}

# Background work ---------------------------------------------------------------------------------

EVALHUB_SITE_SECTIONS = [
    "evalhub.operations.site_sections.MODELS",
    "runs.api.site_sections.JURIES",
    "evalhub.operations.site_sections.ROLES",
    "evalhub.operations.site_sections.USERS",
    "evalhub.operations.site_sections.TOKENS",
    "evalhub.operations.site_sections.WEBHOOKS",
]
"""Sections of the file that `manage.py apply` takes, in the order in which they are applied."""

EVALHUB_DEMO_HISTORY = [
    "runs.demo.writer.write_once",
    "reports.summaries.sample.write_once",
]
EVALHUB_DEMO_ALSO = [
    "runs.review.demo.make_once",
    "reports.summaries.sample.ask_once",
    "issues.drafting.demo.draft_once",
]
"""Idempotent functions that the demo calls with its runs and user at every start."""

Q_CLUSTER = {
    "name": "evalhub",
    "label": "Queue",
    "orm": "default",
    "workers": EVALHUB_WORKERS,
    "queue_limit": 1,
    "bulk": 1,
    "poll": 0.5,
    "timeout": EVALHUB_SLICE_S + EVALHUB_LONGEST_CALL_S + 60,
    "retry": EVALHUB_SLICE_S + EVALHUB_LONGEST_CALL_S + 120,
    "ack_failures": True,
    "save_limit": -1,
    "catch_up": False,
}
if EVALHUB_REDIS_URL:
    Q_CLUSTER |= {
        "broker_class": "evalhub.work.processes.woken_broker.WokenBroker",
        "redis": EVALHUB_REDIS_URL,
        "poll": 0,
    }

# Users and security ------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
if EVALHUB_OIDC_ISSUER:
    AUTHENTICATION_BACKENDS.append("evalhub.access.single_sign_on.SingleSignOn")
SESSION_COOKIE_AGE = EVALHUB_SESSION_HOURS * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None

# Pages -------------------------------------------------------------------------------------------

LANGUAGE_CODE = "en-us"
# No page is translated: looking up translations took a fifth of a small page's time.
USE_I18N = False
USE_TZ = True
FORMAT_MODULE_PATH = "evalhub.admin_site.formats"
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
# It holds sessions and password hashes: no access for other users of the machine.
DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # else each start would warn
STATICFILES_DIRS = [("plotly", str(distribution("plotly").locate_file("plotly/package_data")))]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 3600
ABSOLUTE_URL_OVERRIDES = {"runs.run": lambda run: reverse("reports:run", args=[run.pk])}

# API ---------------------------------------------------------------------------------------------

REST_FRAMEWORK["NUM_PROXIES"] = EVALHUB_PROXIES

LOGGING = configuration(LOG_FORMAT, LOG_LEVEL)
