"""Connections to providers, only to permitted addresses, with a record of each exchange.

Straight calls `send` through aiohttp. litellm sends through httpx over aiohttp, its fast way: this
transport replaces litellm's own (in `translated_calls.py`). For both, every address is checked when
a connection is opened, redirects included; a key leaves only for the hosts bound to it; replies
have a size limit; and the last reply or failure is noted on the current `Exchange`, because litellm
passes on neither in full.
"""

import asyncio
import json
import socket
import time
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass
from weakref import WeakKeyDictionary

import aiohttp
import httpcore
import httpx
from aiohttp.abc import ResolveResult

from evalhub.limits import CONNECT_TIMEOUT_S, MAX_REPLY_BYTES
from evalhub.llm.security.address_policy import (
    ForbiddenAddress,
    allowed_addresses,
    is_allowed_name,
    permitted,
)
from evalhub.llm.security.key_policy import check_key, check_request

KEEPALIVE_S = 120
DEFAULT_TIMEOUT_S = 600.0
DECODED = {b"content-encoding", b"content-length", b"transfer-encoding"}
"""Headers that no longer hold once the body has been read and decompressed."""


class ReplyTooLong(Exception):
    """A reply is larger than any answer needs."""


@dataclass(frozen=True)
class Reply:
    """A whole response to a straight call. `headers` are found in any case."""

    status_code: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return decoded(self.body, self.headers.get("Content-Type", ""))


def decoded(body: bytes, content_type: str) -> str:
    """Return a body's text. JSON is UTF-8 or shows what it is, whatever its content type says."""
    try:
        return body.decode(json.detect_encoding(body))
    except UnicodeDecodeError:
        charset = content_type.lower().partition("charset=")[2].partition(";")[0]
    try:
        return body.decode(charset.strip(' "') or "utf-8", "replace")
    except LookupError:
        return body.decode(errors="replace")


@dataclass
class Exchange:
    """The network side of a call: the last response, or the failure.

    `elapsed_s` is from sending to the last byte or failure; 0 when nothing was sent. If the call
    `is_streamed`, a successful response is passed on before its end, and `received` grows.
    `key_variable` names the variable with the key; "": the endpoint names none.
    """

    response: httpx.Response | Reply | None = None
    failure: Exception | None = None
    elapsed_s: float = 0.0
    is_streamed: bool = False
    key_variable: str = ""
    received: list[bytes] = field(default_factory=list)

    @property
    def succeeded(self) -> bool:
        """Return whether a whole reply came, without an error status."""
        return (
            self.failure is None and self.response is not None and self.response.status_code < 300
        )

    @property
    def text(self) -> str:
        """Return the body of the response as far as it has arrived."""
        if self.received or self.response is None:
            return b"".join(self.received).decode(errors="replace")
        stream = getattr(self.response, "stream", None)
        return "" if isinstance(stream, Streamed) else self.response.text


_current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


@contextmanager
def recorded(*, is_streamed: bool = False, key_variable: str = "") -> Iterator[Exchange]:
    """Note what the calls made inside the block receive, and bind them to their key's hosts."""
    exchange = Exchange(is_streamed=is_streamed, key_variable=key_variable)
    token = _current.set(exchange)
    try:
        yield exchange
    finally:
        _current.reset(token)


class PermittedConnector(aiohttp.TCPConnector):
    """Connects to permitted addresses only: the checked address is the one that is used.

    aiohttp calls the overridden method for names and for literal addresses; its public resolver
    hook sees only names. A test opens a real forbidden connection, so that a change in aiohttp
    cannot remove the check unnoticed.
    """

    async def _resolve_host(self, host: str, port: int, traces: Any = None) -> list[ResolveResult]:
        found = await super()._resolve_host(host, port, traces)
        allow = allowed_addresses()
        name = host.lower().rstrip(".")
        if is_allowed_name(name, port, allow):
            return found
        kept = permitted(name, port, [result["host"].partition("%")[0] for result in found], allow)
        return [result for result in found if result["host"].partition("%")[0] in kept]


class PermittedBackend(httpcore.SyncBackend):
    """The same for requests that litellm sends without asyncio: some providers, some images."""

    def connect_tcp(
        self, host: str, port: int, *arguments: Any, **options: Any
    ) -> httpcore.NetworkStream:
        allow, name = allowed_addresses(), host.lower().rstrip(".")
        if is_allowed_name(name, port, allow):
            return super().connect_tcp(host, port, *arguments, **options)
        try:
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error
        addresses = [str(info[4][0]).partition("%")[0] for info in infos]
        address = permitted(name, port, addresses, allow)[0]
        return super().connect_tcp(address, port, *arguments, **options)


class SyncTransport(httpx.HTTPTransport):
    """Sends what litellm sends without asyncio, and webhooks."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _current.get() or Exchange()
        try:
            check_request(request, exchange.key_variable)
        except ForbiddenAddress as error:
            exchange.failure = error
            raise
        return super().handle_request(request)


def sync_transport() -> httpx.HTTPTransport:
    transport = SyncTransport()
    transport._pool._network_backend = PermittedBackend()
    return transport


FAILURES = (aiohttp.ClientError, TimeoutError, OSError, ReplyTooLong, ValueError)


@contextmanager
def _noting() -> Iterator[Exchange]:
    """Note how long a request of the current call takes, and its failure."""
    exchange = _current.get() or Exchange()
    exchange.response = exchange.failure = None
    exchange.received.clear()
    started = time.perf_counter()
    try:
        yield exchange
    except FAILURES as error:
        exchange.failure = error
        raise
    finally:
        exchange.elapsed_s += time.perf_counter() - started


def _as_httpx(error: Exception, request: httpx.Request) -> Exception:
    """Return a failure in the form that litellm expects."""
    failure = httpx.TimeoutException if isinstance(error, TimeoutError) else httpx.ReadError
    return failure(str(error), request=request)


class Transport(httpx.AsyncBaseTransport):
    """Sends httpx requests through one aiohttp session per event loop."""

    def __init__(self) -> None:
        self._tls = httpx.create_ssl_context()
        self._sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession] = (
            WeakKeyDictionary()
        )

    def get_valid_client_session(self) -> aiohttp.ClientSession:
        """Return the session of the running loop; litellm uses this name."""
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None or session.closed:
            connector = PermittedConnector(limit=0, keepalive_timeout=KEEPALIVE_S, ssl=self._tls)
            session = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar()
            )
            self._sessions[loop] = session
        return session

    _get_valid_client_session = get_valid_client_session

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        # The caller's time-out holds for the whole call, not only for each read.
        total_s = request.extensions.get("timeout", {}).get("read") or DEFAULT_TIMEOUT_S
        url, body = str(request.url), await request.aread() or None
        try:
            with _noting() as exchange:
                check_request(request, exchange.key_variable)
                response = await self._sent(request.method, url, request.headers, body, total_s)
                headers = [pair for pair in response.raw_headers if pair[0].lower() not in DECODED]
                whole = partial(httpx.Response, response.status, request=request)
                if exchange.is_streamed and response.ok:
                    stream = Streamed(response, exchange, request)
                    found = whole(headers=headers, stream=stream)
                else:
                    found = whole(**_as_json(headers, await _body(response)))
                exchange.response = found
                return found
        except FAILURES as error:
            raise _as_httpx(error, request) from error

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, total_s: float
    ) -> Reply:
        """Make a request that carries no secret but the call's key; follow no redirect."""
        with _noting() as exchange:
            if exchange.key_variable:
                check_key(exchange.key_variable, url.partition("?")[0])
            response = await self._sent(method, url, headers, body, total_s)
            reply = Reply(response.status, response.headers, await _body(response))
            exchange.response = reply
            return reply

    async def _sent(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, total_s: float
    ) -> aiohttp.ClientResponse:
        parts = urlsplit(url)
        return await self.get_valid_client_session().request(
            method,
            url,
            headers=headers,
            data=body,
            allow_redirects=False,
            proxy=proxy_for(parts.scheme, parts.hostname or ""),
            timeout=_timeout(total_s),
        )

    async def close(self) -> None:
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.close()


@lru_cache(maxsize=1000)
def _timeout(total_s: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=total_s, sock_connect=min(total_s, CONNECT_TIMEOUT_S))


@lru_cache(maxsize=1000)
def proxy_for(scheme: str, host: str) -> str | None:
    """Return the proxy for a host from the environment (HTTPS_PROXY, NO_PROXY …).

    A proxy resolves names itself, so that only the proxy's own address is checked at connect
    time; what the operator's proxy reaches is the operator's decision.
    """
    proxies = getproxies_environment()
    if not proxies or proxy_bypass(host):
        return None
    return proxies.get(scheme) or proxies.get("all")


async def _body(response: aiohttp.ClientResponse) -> bytes:
    async with response:
        return b"".join([chunk async for chunk in _chunks(response)])


def _as_json(headers: list[tuple[bytes, bytes]], body: bytes) -> dict[str, Any]:
    """Return headers and body; litellm reads JSON by its content type alone, without a mark."""
    text = body.removeprefix(BOM_UTF8)
    if text.lstrip()[:1] in (b"{", b"["):
        others = [pair for pair in headers if pair[0].lower() != b"content-type"]
        return {"headers": [*others, (b"content-type", b"application/json")], "content": text}
    return {"headers": headers, "content": body}


async def _chunks(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in response.content.iter_any():
        yield chunk
        size += len(chunk)
        if size > MAX_REPLY_BYTES:
            raise ReplyTooLong(f"more than {MAX_REPLY_BYTES:,} bytes")


class Streamed(httpx.AsyncByteStream):
    """The body of a response, passed on while it arrives and noted on the exchange."""

    def __init__(
        self, response: aiohttp.ClientResponse, exchange: Exchange, request: httpx.Request
    ) -> None:
        self._response, self._exchange, self._request = response, exchange, request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in _chunks(self._response):
                self._exchange.received.append(chunk)
                yield chunk
        except FAILURES as error:
            self._exchange.failure = error
            raise _as_httpx(error, self._request) from error

    async def aclose(self) -> None:
        self._response.close()
