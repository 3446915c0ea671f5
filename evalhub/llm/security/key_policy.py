"""Environment variables with keys, and the only hosts that each is sent to.

The operator lists them in the setting EVALHUB_KEYS: `VARIABLE@host` or `VARIABLE@host:port`, a
variable with several hosts several times. A form refuses what is not listed when it is saved; the
transport (`http_transport`) checks every request again when it leaves.
"""

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple

import httpx
from django.conf import settings

from evalhub.llm.security.address_policy import (
    Allowance,
    ForbiddenAddress,
    allowances,
    host_and_port,
    joined,
    split_url,
)

SHORTEST_KEY = 8
"""Characters; a shorter value of the environment may stand in any header by chance."""

PLAIN_HEADERS = {"host", "accept", "accept-encoding", "connection", "content-length"}


class Binding(NamedTuple):
    variable: str
    host: Allowance


def bindings(entries: Iterable[str]) -> list[Binding]:
    """Parse the setting; raise ValueError for an entry that is no VARIABLE@host, quoted."""
    return [_binding(entry) for entry in entries]


def _binding(entry: str) -> Binding:
    variable, _, host = entry.partition("@")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable) or not host:
        raise ValueError(f"{entry!r} is not VARIABLE@host, such as OPENAI_API_KEY@api.openai.com")
    return Binding(variable, allowances([host])[0])


@lru_cache(maxsize=16)
def _listed(entries: tuple[str, ...]) -> dict[str, list[Allowance]]:
    found: dict[str, list[Allowance]] = {}
    for binding in bindings(entries):
        found.setdefault(binding.variable, []).append(binding.host)
    return found


def check_key(variable: str, url: str = "") -> None:
    """Refuse to send a variable's value to a URL; without a URL, to any host.

    Raises:
        ForbiddenAddress: With what is wrong and what an operator can do.
    """
    listed = _listed(tuple(settings.EVALHUB_KEYS))
    where = host_and_port(split_url(url)) if url else None
    if variable not in listed:
        place = joined(*where) if where else "api.openai.com"
        raise ForbiddenAddress(
            f"{variable} is not listed as a key. If it is one, an operator adds it with its host "
            f"to EVALHUB_KEYS, such as {variable}@{place}."
        )
    if where and not _covers(listed[variable], *where):
        raise ForbiddenAddress(
            f"{variable} may not be sent to {joined(*where)}. If it is meant, an operator adds "
            f"{variable}@{joined(*where)} to EVALHUB_KEYS."
        )


def key_problem(variable: str, url: str) -> str:
    """Return why a variable's value cannot be sent to a URL; "" if it can, or none is named.

    An empty URL is the provider's own address, which is known when it is called.
    """
    try:
        if variable:
            check_key(variable, url)
    except ForbiddenAddress as error:
        return str(error)
    return ""


def check_request(request: httpx.Request, variable: str) -> None:
    """Refuse a request that leaves for a host to which its key is not bound.

    Args:
        request: As it would be sent.
        variable: The one that the endpoint names; "": none. Then the client library may have found
            a key itself, so that headers and query are compared with the whole environment.

    Raises:
        ForbiddenAddress: See `check_key`.
    """
    if names := {variable} - {""} | set(_carried(request)):
        url = str(request.url.copy_with(query=None, fragment=None))
        for name in names:
            check_key(name, url)


def _covers(hosts: Iterable[Allowance], host: str, port: int) -> bool:
    try:
        address = ip_address(host)
    except ValueError:  # a name: listed ranges do not cover it, whatever it resolves to
        address = None
    return any(one.covers(host, port, address) for one in hosts)


def _carried(request: httpx.Request) -> Iterator[str]:
    """Yield the environment variables whose whole value is a word of a header or of the query."""
    words = {word for text in _sent(request) for word in text.split()}
    for name, value in os.environ.items():
        if len(value) >= SHORTEST_KEY and value.strip() in words:
            yield name


def _sent(request: httpx.Request) -> Iterator[str]:
    for name, value in request.headers.items():
        if name.lower() not in PLAIN_HEADERS:
            yield value
    if request.url.query:
        yield from request.url.params.values()
