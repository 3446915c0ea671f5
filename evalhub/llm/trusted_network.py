"""The trusted network: endpoints to which sealed tests can be sent without exposure.

The operator lists them in the setting EVALHUB_TRUSTED_ADDRESSES, in the same
form as permitted addresses: `host`, `host:port` or a CIDR range. The default is this machine.
"""

from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings

from evalhub.llm.address_policy import Address, allowances, host_and_port
from evalhub.llm.endpoint import Endpoint

OWN_ADDRESS = "{}, at its own address"
LONGEST = 300


def is_trusted(endpoint: Endpoint) -> bool:
    """Return True if sealed text can be sent to an endpoint without being exposed.

    A name is trusted only if it is listed itself, never for the address that it resolves to.
    Otherwise anybody who can point a name into a listed range would be trusted; a name may
    resolve differently at the next call; and only the name is on record. Without a base URL,
    text goes to the provider's own address, which is outside.
    """
    return _is_trusted(endpoint.api_base, tuple(settings.EVALHUB_TRUSTED_ADDRESSES))


def address_of(endpoint: Endpoint) -> str:
    """Return the host and port of an endpoint; the provider's name if it has no base URL."""
    if not endpoint.api_base:
        provider = endpoint.litellm_model.partition("/")[0]
        return OWN_ADDRESS.format(provider)[:LONGEST]
    return _host_and_port(endpoint.api_base)[:LONGEST]


@lru_cache(maxsize=1024)
def _is_trusted(api_base: str, trusted: tuple[str, ...]) -> bool:
    if not api_base:
        return False
    try:
        host, port = host_and_port(urlsplit(api_base))
    except ValueError:
        return False
    address = _literal(host)
    return any(entry.covers(host, port, address) for entry in allowances(trusted))


@lru_cache(maxsize=1024)
def _host_and_port(api_base: str) -> str:
    try:
        host, port = host_and_port(urlsplit(api_base))
    except ValueError:
        return api_base
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _literal(host: str) -> Address | None:
    """Return the address of a host given as a number; None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None
