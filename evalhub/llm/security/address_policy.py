"""The addresses at which language models can be called.

Only addresses of the public internet, unless the operator lists others in the setting
EVALHUB_ALLOWED_ADDRESSES: `host`, `host:port` or a CIDR range. A base URL is checked when it is
saved, and every address again when a connection to it is opened (`http_transport`), so that a name
which resolves differently the second time gains nothing.
"""

import re
import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolve = Callable[[str], list[str]]

SAVE_RESOLUTION_S = 1.0
"""How long saving waits for the name service; the check at connect time does not depend on it."""

PUBLIC_V6 = ip_network("2000::/3")
NEVER_PUBLIC = tuple(
    ip_network(text)
    for text in (
        "192.0.0.0/24",  # protocol assignments, among them a cloud's metadata service
        "192.88.99.0/24",  # 6to4 relays
        "168.63.129.16/32",  # a cloud's host agent at a public address
        "2001::/23",  # protocol assignments, Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which embeds any IPv4 address
        "3fff::/20",  # documentation
    )
)


class ForbiddenAddress(ValueError):
    """An address that may not be called; the message says why and what to do."""


@dataclass(frozen=True)
class Allowance:
    """An entry of the allowlist; `port` None: every port."""

    host: str
    network: Network | None
    port: int | None

    def covers(self, host: str, port: int, address: Address | None) -> bool:
        if self.port is not None and self.port != port:
            return False
        if self.network is None:
            return self.host == host
        return address is not None and address in self.network


def allowances(entries: Iterable[str]) -> list[Allowance]:
    """Parse the allowlist; raise ValueError for no host, host:port or CIDR, quoted."""
    return [_allowance(entry) for entry in entries]


def _allowance(entry: str) -> Allowance:
    network = _network(entry)
    if network is not None:
        return Allowance(entry, network, None)
    try:
        parts = urlsplit(f"//{entry}")
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        host, port = "", None
    if not re.fullmatch(r"[a-z0-9_.:-]+", host) or parts.path or "@" in entry:
        raise ValueError(f"{entry!r} is not a host, host:port or CIDR range such as 10.0.0.0/8")
    return Allowance(host, _network(host), port)


def _network(text: str) -> Network | None:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        return None


def allowed_addresses() -> list[Allowance]:
    return allowances(settings.EVALHUB_ALLOWED_ADDRESSES)


def is_public(address: Address) -> bool:
    """Return True if an address is on the public internet and embeds no other address.

    IPv6 addresses that embed an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo) are not
    public, whatever they embed.
    """
    if isinstance(address, IPv6Address) and address not in PUBLIC_V6:
        return False
    if any(address in network for network in NEVER_PUBLIC):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def check_address(host: str, port: int, address: str, allow: Iterable[Allowance]) -> None:
    """Raise ForbiddenAddress if a name's address is neither public nor allowed."""
    host, parsed = host.lower().rstrip("."), ip_address(address)
    if is_public(parsed) or any(entry.covers(host, port, parsed) for entry in allow):
        return
    resolved = "" if host == address else f" (resolved from {host})"
    raise ForbiddenAddress(
        f"The address {address}{resolved} is not on the public internet and may not be called. "
        f"If it is meant, an operator adds {joined(host, port)} to EVALHUB_ALLOWED_ADDRESSES."
    )


def joined(host: str, port: int) -> str:
    """Return host and port as in a URL."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def permitted(
    host: str, port: int, addresses: Sequence[str], allow: Sequence[Allowance]
) -> list[str]:
    """Return the addresses that can be called; raise ForbiddenAddress if there is none."""
    kept, refused = [], None
    for address in addresses:
        try:
            check_address(host, port, address, allow)
            kept.append(address)
        except ForbiddenAddress as error:
            refused = refused or error
    if refused and not kept:
        raise refused
    return kept


def check_base_url(
    url: str, allow: Sequence[Allowance] | None = None, *, resolve: Resolve | None = None
) -> None:
    """Refuse a base URL that may not be called. A name that does not resolve now passes.

    Args:
        url: As a person entered it.
        allow: None reads the setting.
        resolve: Gives a name's addresses, [] when it has none; None asks the name service.

    Raises:
        ForbiddenAddress: With what is wrong and what to do.
    """
    allow = allowed_addresses() if allow is None else allow
    parts = split_url(url)
    host, port = host_and_port(parts)
    if not is_allowed_name(host, port, allow):
        addresses = _literal(host) or (resolve or _resolve_briefly)(host)
        permitted(host, port, addresses, allow)


def is_allowed_name(host: str, port: int, allow: Iterable[Allowance]) -> bool:
    return any(entry.covers(host, port, None) for entry in allow)


def split_url(url: str) -> SplitResult:
    """Return the parts of a URL with the form of a base URL."""
    if re.search(r"[\s\\\x00-\x1f\x7f]", url):
        raise ForbiddenAddress(f"The base URL {url!r} holds a space, backslash or control sign.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ForbiddenAddress(f"The base URL {url!r} cannot be read: {error}.") from error
    if parts.scheme not in ("http", "https"):
        raise ForbiddenAddress(f"The base URL {url!r} must start with https:// or http://.")
    if "@" in parts.netloc:
        raise ForbiddenAddress(
            "A base URL carries no user name or password: they would be stored. "
            "Name the environment variable that holds the key instead."
        )
    if not host or port == 0 or parts.query or parts.fragment:
        raise ForbiddenAddress(f"The base URL {url!r} needs a host, and no '?' or '#'.")
    return parts


def host_and_port(parts: SplitResult) -> tuple[str, int]:
    """Return the host in lower case without a final dot, and the port."""
    host = (parts.hostname or "").lower().rstrip(".")
    return host, parts.port or (443 if parts.scheme == "https" else 80)


def _literal(host: str) -> list[str]:
    """Return the address of a host given as a number; [] for a name.

    Raises:
        ForbiddenAddress: It is an address in disguise (decimal, octal, hexadecimal, shortened)
            or no valid name, of which another program may read something else than we do.
    """
    try:
        return [str(ip_address(host))]
    except ValueError:
        pass
    if host == "localhost" or host.endswith(".localhost"):
        return ["127.0.0.1"]
    last = host.rpartition(".")[2]
    if not re.fullmatch(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?", host) or ".." in host:
        raise ForbiddenAddress(
            f"{host!r} is not a host name. Write it in plain ASCII (punycode for other alphabets)."
        )
    if re.fullmatch(r"\d+|0x[0-9a-f]*", last):
        raise ForbiddenAddress(f"Write the address {host!r} in its usual form, such as 192.0.2.1.")
    return []


def _resolve_briefly(host: str) -> list[str]:
    """Return a name's addresses; [] if the name service is slow or has none."""
    found: list[str] = []

    def look_up() -> None:
        with suppress(OSError, UnicodeError):
            infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            found.extend(str(info[4][0]).partition("%")[0] for info in infos)

    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(SAVE_RESOLUTION_S)
    return list(found)
