import logging
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks.security.base import check_secret_key as check_weak_key
from django.core.exceptions import ImproperlyConfigured

from evalhub.llm.security.address_policy import allowances
from evalhub.llm.security.key_policy import bindings

log = logging.getLogger(__name__)

SHORTEST_TOKEN = 20


@register(Tags.security)
def check_secret_key(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if settings.DEBUG or settings.SECRET_KEY != settings.INSECURE_SECRET_KEY:
        return []
    return [
        Error(
            "The secret key is the public default.",
            hint="Set EVALHUB_SECRET_KEY to a long random string, the same for web and workers.",
            id="evalhub.E001",
        )
    ]


@register()
def check_queue(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    cluster: dict[str, Any] = settings.Q_CLUSTER
    timeout, retry = cluster.get("timeout"), cluster.get("retry", 60)
    if timeout and retry > timeout:
        return []
    return [
        Error(
            f"The queue retries a task after {retry} s, before its time-out of {timeout} s.",
            hint="Set Q_CLUSTER's retry above its timeout, or tasks run several times.",
            id="evalhub.E002",
        )
    ]


@register()
def check_addresses(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    for name in ("EVALHUB_ALLOWED_ADDRESSES", "EVALHUB_TRUSTED_ADDRESSES"):
        try:
            allowances(getattr(settings, name))
        except ValueError as error:
            hint = "Enter hosts, host:port or CIDR ranges, separated by commas."
            found.append(Error(f"{name}: {error}.", hint=hint, id="evalhub.E003"))
    try:
        bindings(settings.EVALHUB_KEYS)
    except ValueError as error:
        hint = "Enter VARIABLE@host or VARIABLE@host:port, separated by commas."
        found.append(Error(f"EVALHUB_KEYS: {error}.", hint=hint, id="evalhub.E004"))
    return found


@register(Tags.security)
def check_single_sign_on(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    issuer = settings.EVALHUB_OIDC_ISSUER
    if not issuer or (settings.OIDC_RP_CLIENT_ID and settings.OIDC_RP_CLIENT_SECRET):
        return []
    return [
        Error(
            f"EVALHUB_OIDC_ISSUER={issuer} is set without this site's id and secret there.",
            hint="Set EVALHUB_OIDC_CLIENT_ID and EVALHUB_OIDC_CLIENT_SECRET.",
            id="evalhub.E005",
        )
    ]


@register(Tags.security)
def check_metrics_token(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if not settings.EVALHUB_METRICS_TOKEN or len(settings.EVALHUB_METRICS_TOKEN) >= SHORTEST_TOKEN:
        return []
    return [
        Error(
            f"EVALHUB_METRICS_TOKEN has fewer than {SHORTEST_TOKEN} characters.",
            hint="Set a long random one, or none to switch the metrics off.",
            id="evalhub.E006",
        )
    ]


@register()
def check_redis(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if not settings.EVALHUB_REDIS_URL or find_spec("redis"):
        return []
    return [
        Error(
            "EVALHUB_REDIS_URL is set, but the package redis is not installed.",
            hint="Run pip install redis, or unset EVALHUB_REDIS_URL.",
            id="evalhub.E007",
        )
    ]


def refuse_harmful_settings() -> None:
    """Run these checks for a server or worker, without Django's; raise ImproperlyConfigured."""
    checks = (check_secret_key, check_queue, check_addresses, check_metrics_token, check_redis)
    if not settings.DEBUG and check_weak_key(None):
        log.warning("EVALHUB_SECRET_KEY can be guessed: set at least 50 random characters.")
    if found := [message for check in checks for message in check(None)]:
        raise ImproperlyConfigured(" ".join(f"{one.id}: {one.msg} {one.hint}" for one in found))
