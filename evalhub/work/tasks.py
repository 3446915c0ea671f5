"""The queue's task: one token lets this process work for a while."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType

from django.conf import settings

from evalhub.work.loop import Loop


def work() -> None:
    """Work until nothing is left to do, for at most EVALHUB_SLICE_S seconds."""
    runner().run(_work(settings.EVALHUB_SLICE_S))


@cache
def runner() -> asyncio.Runner:
    """One event loop for the life of the process: clients keep their connections on it."""
    return asyncio.Runner()


async def _work(seconds: float) -> None:
    loop = Loop(seconds=seconds)
    with on_stop(loop.stop):
        await loop.run()


@contextmanager
def on_stop(stop: Callable[[], None]) -> Iterator[None]:
    """On SIGTERM do `stop` in the running event loop, besides what the process does anyway."""
    events = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGTERM)

    def handle(number: int, frame: FrameType | None) -> None:
        events.call_soon_threadsafe(stop)
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGTERM, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
