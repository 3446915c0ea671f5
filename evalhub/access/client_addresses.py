from ipaddress import ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

PREFIX_V6 = 64
"""Bits of the network that one IPv6 subscriber has at least."""


def client_address(request: HttpRequest) -> str:
    """Return the address seen by our outermost proxy; entries that a client forged are ignored.

    Each proxy appends its peer to X-Forwarded-For, so only the last EVALHUB_PROXIES entries count.
    """
    near = str(request.META.get("REMOTE_ADDR", ""))
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", ""))
    passed = [part.strip() for part in forwarded.split(",") if part.strip()]
    ours = passed[-settings.EVALHUB_PROXIES :] if settings.EVALHUB_PROXIES else []
    return ours[0] if ours else near


def client_network(request: HttpRequest) -> str:
    """Return the client's IPv4 address, or the first address of its IPv6 network of 64 bits."""
    return network_of(client_address(request))


def network_of(address: str) -> str:
    """Return the first of the addresses that limits count together; another text without spaces."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return "".join(address.split())[:64]
    if parsed.version == 4:
        return address
    return str(ip_network((parsed, PREFIX_V6), strict=False).network_address)
