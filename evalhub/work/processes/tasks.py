"""The queue's task: it lets this process work for a while."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType

from django.conf import settings

from evalhub.work.loop import Loop


def work() -> str:
    """Work until no work is left, for at most EVALHUB_SLICE_S seconds. Return items per batch."""
    return runner().run(_work(settings.EVALHUB_SLICE_S))


@cache
def runner() -> asyncio.Runner:
    """Return the process's one event loop, on which clients keep their connections."""
    return asyncio.Runner()


async def _work(seconds: float) -> str:
    loop = Loop(seconds=seconds)
    with on_stop(loop.stop):
        await loop.run()
    return ", ".join(f"{name}: {n}" for name, n in loop.performed.items())


@contextmanager
def on_stop(stop: Callable[[], None]) -> Iterator[None]:
    """On SIGTERM, call `stop` in the running event loop, then the process's own handler."""
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
