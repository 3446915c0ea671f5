"""Requests as data, and the rules by which they are repeated.

An operation is a generator: it yields the requests to send and the pauses to make, gets the
responses, and returns a value. What sends them, blocking or not, knows none of the rules.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, TypeVar

import httpx

from evalhub_client.errors import Unreachable, error_of

T = TypeVar("T")

NOT_CARRIED_OUT = {429, 503}
"""Statuses of a request that changed nothing: it can be sent again, whatever it is."""

PERHAPS_CARRIED_OUT = {502, 504}
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 120.0


@dataclass(frozen=True)
class Request:
    """A request to the API.

    Attributes:
        path: Below `/api/v1/`, or from the site's root if it begins with a slash.
        body: JSON; None for none.
        repeatable: Sent twice, it does what it does once.
    """

    method: str
    path: str
    params: Mapping[str, Any] | str | None = None
    body: Any = None
    headers: Mapping[str, str] | None = None
    repeatable: bool = False

    @property
    def address(self) -> str:
        return self.path if self.path.startswith("/") else f"/api/v1/{self.path}"


@dataclass(frozen=True)
class Pause:
    seconds: float


Flow = Generator[Request | Pause, Any, T]
"""Is sent the `httpx.Response` to each request and None for a pause, or thrown `Unreachable`."""


def sent(request: Request, retries: int) -> Flow[httpx.Response]:
    """Send a request, again while that helps, and return the response.

    Raises:
        Unreachable: No response came.
        ApiError: The site refused the request, or failed.
    """
    attempt = 0
    while True:
        attempt += 1
        pause_s: float | None = FIRST_PAUSE_S * 2 ** (attempt - 1)
        problem: Exception
        try:
            reply: httpx.Response = yield request
        except Unreachable as error:
            problem, is_temporary = error, request.repeatable
        else:
            if reply.is_success:
                return reply
            problem, is_temporary = error_of(reply), _is_temporary(reply, request)
            pause_s = _asked_pause_s(reply, default=pause_s)
        if not is_temporary or attempt > retries or pause_s is None:
            raise problem
        yield Pause(pause_s)


def _is_temporary(reply: httpx.Response, request: Request) -> bool:
    status = reply.status_code
    return status in NOT_CARRIED_OUT or (status in PERHAPS_CARRIED_OUT and request.repeatable)


def _asked_pause_s(reply: httpx.Response, *, default: float | None) -> float | None:
    """Return the pause that `Retry-After` asks for; None if it is too long to wait for."""
    value = reply.headers.get("Retry-After", "")
    if not value:
        return default
    try:
        seconds = float(value) if value.isascii() and value.isdigit() else _seconds_until(value)
    except ValueError:
        return default
    return seconds if seconds <= LONGEST_PAUSE_S else None


def _seconds_until(date: str) -> float:
    return max(0.0, parsedate_to_datetime(date).timestamp() - time())
