import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evalhub.llm import gateway
from evalhub.work import heartbeat, leases, loop
from evalhub.work.kinds import kinds
from evalhub.work.loop import Loop
from tests.evalhub.work.processes import eventually
from tests.runs.conftest import model_at, provider, work

__all__ = ["model_at", "provider", "quick", "start", "work"]


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, settings: Any) -> Path:
    """A folder for unsaved replies that no other test reads."""
    settings.DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hearts beat, rounds and tries follow each other faster than in life."""
    monkeypatch.setattr(leases, "BEAT_S", 0.3)
    monkeypatch.setattr(heartbeat, "CHECK_S", 0.2)
    monkeypatch.setattr(loop, "TICK_S", 0.1)
    monkeypatch.setattr("evalhub.llm.retry.BASE_S", 0.01)


class Worker:
    """A loop in a thread with an event loop and a database connection of its own."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.error: BaseException | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        self._ready.wait(60)

    def _run(self) -> None:
        try:
            asyncio.run(self._work())
        except BaseException as error:
            self.error = error

    async def _work(self) -> None:
        self.loop = Loop(seconds=self.seconds)
        self._events = asyncio.get_running_loop()
        self._ready.set()
        try:
            await self.loop.run()
        finally:
            await gateway.close()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        if self.is_alive:
            self._events.call_soon_threadsafe(self.loop.stop)

    def end(self, within_s: float = 300) -> None:
        """Wait until it ends by itself."""
        eventually(lambda: not self.is_alive, "the worker's end", within_s)


@pytest.fixture
def start(quick: None) -> Iterator[Callable[..., Worker]]:
    """Starts workers, and ends those that still work when the test is over."""
    kinds()  # as a cluster does before it starts its processes
    workers: list[Worker] = []

    def one(seconds: float = 600) -> Worker:
        workers.append(Worker(seconds))
        return workers[-1]

    yield one
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.end()
