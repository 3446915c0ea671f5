from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """Return the address seen by our outermost proxy; entries that a client forged are ignored.

    Each proxy appends its peer to X-Forwarded-For, so only the last EVALHUB_PROXIES entries count.
    """
    near = str(request.META.get("REMOTE_ADDR", ""))
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", ""))
    passed = [part.strip() for part in forwarded.split(",") if part.strip()]
    ours = passed[-settings.EVALHUB_PROXIES :] if settings.EVALHUB_PROXIES else []
    return ours[0] if ours else near
