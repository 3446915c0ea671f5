"""Sending a sealed test's text to an endpoint outside the trusted network is an exposure.

It is written down before the text leaves, so that no killed worker can have sent it unrecorded:
once for each test, endpoint and day.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import date
from typing import Any, NamedTuple

from django.utils import timezone

from evalhub.access.models import Exposure, ExposureKind
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.models import CallRole
from evalhub.llm.trusted_network import address_of, is_trusted


class Sending(NamedTuple):
    """That a test's text goes to an endpoint on a day. Equal ones are one exposure."""

    test: int
    endpoint: str
    day: date


class Cause(NamedTuple):
    """The call by which it was first sent."""

    language_model_id: int
    purpose: str


def record(sendings: Iterable[tuple[Sending, Cause]]) -> None:
    """Write down what is about to be sent; what stands there already is left as it is."""
    Exposure.objects.bulk_create(
        [
            Exposure(
                kind=ExposureKind.SENT,
                test=sending.test,
                endpoint=sending.endpoint,
                day=sending.day,
                language_model_id=cause.language_model_id,
                purpose=cause.purpose,
            )
            for sending, cause in sendings
        ],
        ignore_conflicts=True,
    )


class Sendings:
    """What one process has written down, so that a call asks the database only for what is new.

    `database` runs a function in the thread that talks to the database. Calls that wait at the
    same time are written down together.
    """

    def __init__(self, database: Callable[..., Awaitable[Any]]) -> None:
        self._database = database
        self._known: set[Sending] = set()
        self._waiting: dict[Sending, Cause] = {}
        self._lock = asyncio.Lock()

    async def note(self, tests: Sequence[int], endpoint: Endpoint, role: CallRole) -> None:
        """Return once it is written down that these sealed tests go there; before they do."""
        if not tests or is_trusted(endpoint):
            return
        day, address = timezone.localdate(), address_of(endpoint)
        new = {Sending(test, address, day) for test in tests} - self._known
        cause = Cause(endpoint.language_model_id, role.value)
        self._waiting = {**dict.fromkeys(new, cause), **self._waiting}
        async with self._lock:
            if new - self._known:
                await self._write()

    async def _write(self) -> None:
        taken = dict(self._waiting)
        await self._database(record, list(taken.items()))
        self._known.update(taken)
        for sending in taken:
            self._waiting.pop(sending, None)
