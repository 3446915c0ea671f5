"""Records of sealed tests sent to endpoints outside the trusted network.

An exposure is saved before the text leaves, so that a killed worker has sent nothing unrecorded:
once per test, endpoint and day.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from django.utils import timezone

from evalhub.access.models import Exposure, ExposureKind
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.models import CallRole
from evalhub.llm.security.trusted_network import address_of, is_trusted

EXPOSURE_COLUMNS = (
    *("id", "test", "kind", "day", "user", "endpoint", "language_model", "purpose"),
    *("reason", "by", "created_at", "ended_at", "ended_by"),
)
WITHHELD = ("reason",)
"""Columns that may quote a test, for readers of sealed tests only."""


class Sending(NamedTuple):
    """A test, an endpoint and a day. Equal ones are one exposure."""

    test: int
    endpoint: str
    day: date


def record(sendings: Mapping[Sending, dict[str, Any]]) -> None:
    """Save what is about to be sent, with its cause; existing exposures stay unchanged."""
    Exposure.objects.bulk_create(
        [
            Exposure(kind=ExposureKind.SENT, **sending._asdict(), **cause)
            for sending, cause in sendings.items()
        ],
        ignore_conflicts=True,
    )


class Sendings:
    """Exposures that this process has saved, so that calls only save new ones.

    `database` runs a function in the database thread. Calls that wait at the same time are saved
    together.
    """

    def __init__(self, database: Callable[..., Awaitable[Any]]) -> None:
        self._database = database
        self._known: set[Sending] = set()
        self._waiting: dict[Sending, dict[str, Any]] = {}
        self._lock = asyncio.Lock()

    async def note(self, tests: Sequence[int], endpoint: Endpoint, role: CallRole) -> None:
        """Return once it is saved that these sealed tests go to the endpoint."""
        if not tests or is_trusted(endpoint):
            return
        day, address = timezone.localdate(), address_of(endpoint)
        new = {Sending(test, address, day) for test in tests} - self._known
        cause = {"language_model_id": endpoint.language_model_id, "purpose": role.value}
        self._waiting = {**dict.fromkeys(new, cause), **self._waiting}
        async with self._lock:
            if new - self._known:
                taken = dict(self._waiting)
                await self._database(record, taken)
                self._known.update(taken)
                for sending in taken:
                    self._waiting.pop(sending, None)
