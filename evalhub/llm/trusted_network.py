"""Which endpoints stand in the trusted network: what is sent there has not left the house.

The operator lists them in the setting EVALHUB_TRUSTED_ADDRESSES, in the grammar of the addresses
that may be called: `host`, `host:port` or a CIDR range. Unless set otherwise it is this machine.
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
    """Whether the text of sealed tests may be sent there without being exposed.

    A name is trusted only if it is listed itself, never for what it resolves to: an address range
    would else trust whoever can make a name point into it, a name may resolve to something else
    at the next call, and what stands in the record is the name. Without a base URL the text
    goes to the provider's own address, which is outside.
    """
    return _is_trusted(endpoint.api_base, tuple(settings.EVALHUB_TRUSTED_ADDRESSES))


def address_of(endpoint: Endpoint) -> str:
    """Host and port of an endpoint; the provider's name where its own address is used."""
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
    """The address that a host is; None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None
