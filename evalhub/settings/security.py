"""Rules of passwords, logins, uploads and pages that do not depend on where the site runs."""

from csp.constants import NONCE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from django.urls import reverse_lazy

from evalhub.limits import LOGIN_COOL_OFF_S, LOGIN_FAILURES, OIDC_TIMEOUT_S

AUTH_USER_MODEL = "evalhub.User"
LOGIN_URL = reverse_lazy("admin:login")
LOGIN_REDIRECT_URL = reverse_lazy("admin:index")

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
] + [{"NAME": "evalhub.access.tokens.RevokeTokens"}]

AXES_VERBOSE = False
AXES_FAILURE_LIMIT = LOGIN_FAILURES[0]
AXES_COOLOFF_TIME = LOGIN_COOL_OFF_S / 3600
AXES_HANDLER = "evalhub.access.logins.LoginHandler"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"], "username", "ip_address"]
AXES_RESET_ON_SUCCESS = True
AXES_ENABLE_ACCESS_FAILURE_LOG = True
AXES_ACCESS_FAILURE_LOG_PER_USER_LIMIT = 10**9
AXES_LOCKOUT_TEMPLATE = "429.html"
AXES_CLIENT_IP_CALLABLE = "evalhub.access.client_addresses.client_network"

OIDC_RP_SIGN_ALGO = "RS256"
OIDC_USE_PKCE = True
OIDC_TIMEOUT = OIDC_TIMEOUT_S

# HSTS for subdomains and preloading are decisions of the domain's owner.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 20 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        # The admin theme's Alpine evaluates expressions; inline scripts stay refused.
        "script-src": [SELF, NONCE, UNSAFE_EVAL],
        # Plotly and the admin theme set style attributes.
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF, "data:"],
        "connect-src": [SELF],
        "frame-ancestors": ["'none'"],
        "form-action": [SELF],
        "base-uri": [SELF],
        "object-src": ["'none'"],
    }
}
