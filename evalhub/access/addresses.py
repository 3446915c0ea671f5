"""Whose address a request comes from, as logins and the API count it."""

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The address that the outermost of our own proxies saw; what a client claims is not looked at.

    Each proxy appends whom it heard to X-Forwarded-For, so only as many entries from the end count
    as there are proxies (EVALHUB_PROXIES).
    """
    near = str(request.META.get("REMOTE_ADDR", ""))
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", ""))
    passed = [part.strip() for part in forwarded.split(",") if part.strip()]
    ours = passed[-settings.EVALHUB_PROXIES :] if settings.EVALHUB_PROXIES else []
    return ours[0] if ours else near
