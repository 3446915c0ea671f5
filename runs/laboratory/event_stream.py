"""Events of asynchronous work, streamed to a reader as lines of JSON."""

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import suppress
from queue import Empty, Queue
from typing import Any

from django.http import StreamingHttpResponse

from evalhub.llm import gateway
from evalhub.work.processes.web import threads

log = logging.getLogger(__name__)

Event = dict[str, Any]
Emit = Callable[[Event], None]
Work = Callable[[Emit], Coroutine[Any, Any, None]]

BEAT_S = 1.0
"""An empty line is sent this often, for only sending shows that the reader has left."""

BUSY = "Too many people are trying tests at this moment. Try again in some seconds."
FAULT = "This failed because of a fault in EvalHub, which has been logged. Nothing typed is lost."

slots = threading.BoundedSemaphore(threads // 2)
"""Each stream takes a thread of the web server: half of them stay free for pages."""


def streamed_response(lines: Iterable[bytes]) -> StreamingHttpResponse:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(lines, content_type="application/x-ndjson", headers=headers)


def streamed(work: Work, *, at_end: Callable[[], object]) -> Iterator[bytes]:
    """Yield the events of work as lines; cancel it if the reader leaves.

    Args:
        work: Runs on an event loop of its own, in a thread without a database connection.
        at_end: Called in the reader's thread when the work has ended, however it ended.
    """
    if not slots.acquire(blocking=False):
        yield line({"error": BUSY})
        return
    events: Queue[Event | None] = Queue()
    loop = asyncio.new_event_loop()
    task = loop.create_task(_performed(work, events))
    thread = threading.Thread(target=_run, args=(loop, task, events), daemon=True)
    thread.start()
    try:
        yield from _lines(events)
    finally:
        with suppress(RuntimeError):  # the loop has ended by itself
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        slots.release()
        at_end()


def _lines(events: "Queue[Event | None]") -> Iterator[bytes]:
    while True:
        try:
            event = events.get(timeout=BEAT_S)
        except Empty:
            yield b"\n"
            continue
        if event is None:
            return
        yield line(event)


def line(event: Event) -> bytes:
    return json.dumps(event).encode() + b"\n"


async def _performed(work: Work, events: "Queue[Event | None]") -> None:
    try:
        await work(events.put)
    except Exception:
        log.exception("Trying a test failed")
        events.put({"error": FAULT})
    finally:
        await gateway.close()


def _run(
    loop: asyncio.AbstractEventLoop, task: "asyncio.Task[None]", events: "Queue[Event | None]"
) -> None:
    try:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
    finally:
        loop.close()
        events.put(None)
