"""The two clients: the same operations, one blocking, one for `await`."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import update_wrapper
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from evalhub_client.errors import EvalHubError, Unreachable
from evalhub_client.flow import Flow, Pause, Request
from evalhub_client.operations import LONGEST_PAGE, Operations

P = ParamSpec("P")
T = TypeVar("T")

TIMEOUT_S = 60.0


def options_of(url: str | None, token: str | None, timeout_s: float) -> dict[str, Any]:
    """Return the options of an httpx client, from the environment where they are not given."""
    url = url or os.environ.get("EVALHUB_URL", "")
    if not url.startswith(("http://", "https://")):
        raise EvalHubError(f"Set EVALHUB_URL to the site's address, not {url!r}.")
    token = token or os.environ.get("EVALHUB_TOKEN", "")
    if not token and (file := os.environ.get("EVALHUB_TOKEN_FILE")):
        token = Path(file).read_text(encoding="utf-8").strip()
    if not token:
        raise EvalHubError("Set EVALHUB_TOKEN; create a token under Settings, Tokens.")
    headers = {"Authorization": f"Bearer {token}", "User-Agent": "evalhub-client"}
    return {"base_url": url.rstrip("/"), "headers": headers, "timeout": timeout_s}


def arguments_of(request: Request) -> dict[str, Any]:
    return {
        "method": request.method,
        "url": request.address,
        "params": request.params or None,
        "headers": request.headers,
        **({} if request.body is None else {"json": request.body}),
    }


def unreachable(error: httpx.TransportError, url: Any) -> Unreachable:
    return Unreachable(f"{url} did not answer: {error or type(error).__name__}.")


def _blocking(
    operation: Callable[Concatenate[Operations, P], Flow[T]],
) -> Callable[Concatenate["Client", P], T]:
    def act(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.carry_out(operation(self.operations, *args, **kwargs))

    update_wrapper(act, operation)
    return act


def _awaited(
    operation: Callable[Concatenate[Operations, P], Flow[T]],
) -> Callable[Concatenate["AsyncClient", P], Awaitable[T]]:
    async def act(self: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.carry_out(operation(self.operations, *args, **kwargs))

    update_wrapper(act, operation)
    return act


class Client:
    """A script's way to an EvalHub site.

    Address and token come from `EVALHUB_URL` and `EVALHUB_TOKEN` (or the file that
    `EVALHUB_TOKEN_FILE` names) unless they are given. A request that failed for a moment is sent
    again, `retries` times, as long after as the site asks.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        retries: int = 5,
    ) -> None:
        self.operations = Operations(retries)
        self._http = httpx.Client(**options_of(url, token, timeout_s))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def carry_out(self, flow: Flow[T]) -> T:
        """Run a flow of requests and return what it returns."""
        reply: httpx.Response | None = None
        failure: Unreachable | None = None
        while True:
            try:
                step = flow.throw(failure) if failure else flow.send(reply)
            except StopIteration as end:
                value: T = end.value
                return value
            reply = failure = None
            if isinstance(step, Pause):
                time.sleep(step.seconds)
                continue
            try:
                reply = self._http.request(**arguments_of(step))
            except httpx.TransportError as error:
                failure = unreachable(error, self._http.base_url)

    def rows(self, path: str, **filters: Any) -> Iterator[Any]:
        """Yield the rows of a list, each page when it is needed."""
        query: Any = {"page_size": LONGEST_PAGE, **filters}
        while query:
            rows, query = self.carry_out(self.operations.page(path, query))
            yield from rows

    get = _blocking(Operations.get)
    post = _blocking(Operations.post)
    patch = _blocking(Operations.patch)
    all = _blocking(Operations.all)
    find = _blocking(Operations.find)
    launch = _blocking(Operations.launch)
    run = _blocking(Operations.run)
    progress = _blocking(Operations.progress)
    wait = _blocking(Operations.wait)
    results = _blocking(Operations.results)
    gate = _blocking(Operations.gate)
    gate_report = _blocking(Operations.gate_report)
    move = _blocking(Operations.move)
    push_tests = _blocking(Operations.push_tests)
    pull_tests = _blocking(Operations.pull_tests)
    push_answers = _blocking(Operations.push_answers)
    send_feedback = _blocking(Operations.send_feedback)


class AsyncClient:
    """`Client` for `async` code: the same operations, to be awaited."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        retries: int = 5,
    ) -> None:
        self.operations = Operations(retries)
        self._http = httpx.AsyncClient(**options_of(url, token, timeout_s))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def carry_out(self, flow: Flow[T]) -> T:
        """Run a flow of requests and return what it returns."""
        reply: httpx.Response | None = None
        failure: Unreachable | None = None
        while True:
            try:
                step = flow.throw(failure) if failure else flow.send(reply)
            except StopIteration as end:
                value: T = end.value
                return value
            reply = failure = None
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
                continue
            try:
                reply = await self._http.request(**arguments_of(step))
            except httpx.TransportError as error:
                failure = unreachable(error, self._http.base_url)

    async def rows(self, path: str, **filters: Any) -> AsyncIterator[Any]:
        """Yield the rows of a list, each page when it is needed."""
        query: Any = {"page_size": LONGEST_PAGE, **filters}
        while query:
            rows, query = await self.carry_out(self.operations.page(path, query))
            for row in rows:
                yield row

    get = _awaited(Operations.get)
    post = _awaited(Operations.post)
    patch = _awaited(Operations.patch)
    all = _awaited(Operations.all)
    find = _awaited(Operations.find)
    launch = _awaited(Operations.launch)
    run = _awaited(Operations.run)
    progress = _awaited(Operations.progress)
    wait = _awaited(Operations.wait)
    results = _awaited(Operations.results)
    gate = _awaited(Operations.gate)
    gate_report = _awaited(Operations.gate_report)
    move = _awaited(Operations.move)
    push_tests = _awaited(Operations.push_tests)
    pull_tests = _awaited(Operations.pull_tests)
    push_answers = _awaited(Operations.push_answers)
    send_feedback = _awaited(Operations.send_feedback)
