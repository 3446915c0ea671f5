"""An exchange with a provider: its record, its time-out, and its errors for people."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

from evalhub.llm.completion import Completion
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.providers.error_mapping import explain
from evalhub.llm.providers.http_transport import Exchange, Transport, recorded
from evalhub.llm.security.redaction import redact
from evalhub.values.storable import storable

T = TypeVar("T", bound=Completion)

GRACE_S = 5.0
"""Added to the endpoint's time-out, for requests that bypass our transport."""


async def exchanged(
    endpoint: Endpoint,
    secrets: tuple[str, ...],
    send: Callable[..., Awaitable[Any]],
    request: Mapping[str, Any],
    read: Callable[[Endpoint, Any, Completion], T],
    *,
    is_streamed: bool = False,
    otherwise: Callable[[Endpoint, Any, Completion], T] | None = None,
) -> T:
    """Send a request, and read its reply; `otherwise` reads one that `send` cannot translate."""
    started = time.perf_counter()
    with recorded(is_streamed=is_streamed, key_variable=endpoint.api_key_env) as exchange:
        try:
            async with asyncio.timeout(endpoint.timeout_s + GRACE_S):
                response = await send(**request)
            return read(endpoint, response, received_in(exchange, started, secrets))
        except Exception as error:
            received = received_in(exchange, started, secrets)
            if otherwise and exchange.succeeded and not isinstance(error, CallError):
                with suppress(ValueError):
                    return otherwise(endpoint, None, received)
            raise explain(endpoint, exchange, error, received, *secrets) from None


def received_in(exchange: Exchange, started: float, secrets: tuple[str, ...]) -> Completion:
    """Return the network exchange, for the record."""
    whole_s = 0.0 if exchange.is_streamed else exchange.elapsed_s
    elapsed_s = whole_s or time.perf_counter() - started
    latency_ms = round(elapsed_s * 1000)
    response = exchange.response
    if response is None:
        return Completion(latency_ms=latency_ms)
    headers = response.headers
    return Completion(
        latency_ms=latency_ms,
        request_id=headers.get("x-request-id") or headers.get("request-id") or "",
        reply=storable(redact(exchange.text, *secrets)),
    )


@cache
def transport() -> Transport:
    return Transport()
