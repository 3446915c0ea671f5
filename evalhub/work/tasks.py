"""The queue's task: one token lets this process work for a while."""

import asyncio
import signal
from functools import cache

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
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, loop.stop)
    try:
        await loop.run()
    finally:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
