"""The trusted network: endpoints to which sealed tests can be sent without exposure.

The operator lists them in the setting EVALHUB_TRUSTED_ADDRESSES, in the same form as permitted
addresses. The default is this machine.
"""

from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.security.address_policy import allowances, host_and_port, joined

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
        return f"{provider}, at its own address"[:LONGEST]
    try:
        return joined(*host_and_port(urlsplit(endpoint.api_base)))[:LONGEST]
    except ValueError:
        return endpoint.api_base[:LONGEST]


@lru_cache(maxsize=1024)
def _is_trusted(api_base: str, trusted: tuple[str, ...]) -> bool:
    if not api_base:
        return False
    try:
        host, port = host_and_port(urlsplit(api_base))
    except ValueError:
        return False
    try:
        address = ip_address(host)
    except ValueError:  # a name
        address = None
    return any(entry.covers(host, port, address) for entry in allowances(trusted))
