"""Calls in flight, in a file for each worker, so that those of one that is killed are counted.

A call is written before it is sent. Its file is locked as long as its process lives, however that
ends; then another worker records each call that has no record as sent, with its reply lost.
"""

import fcntl
import json
import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from django.conf import settings

from evalhub.llm.models import Call
from evalhub.work import unsaved_replies

log = logging.getLogger(__name__)

REPLY_LOST = "reply_lost"
"""Error kind of a call whose worker died before its reply was saved. Its cost is unknown."""

SAME = ("role", "batch", "item_id", "request_digest", "attempt")
SPARE_LINES = 200


def folder() -> Path:
    return Path(settings.DATA_DIR) / "sent_calls"


class SentCalls:
    """The calls of a process that are sent and not saved yet. Without a disk they go on unnoted."""

    def __init__(self) -> None:
        self.path = folder() / f"{uuid4().hex}.jsonl"
        self.lines: dict[int, bytes] = {}
        self.written = 0
        self.file: int | None = None

    def add(self, call: Call) -> None:
        line = self.lines[id(call)] = _line_of(call)
        self.written += 1
        try:
            if self.file is None or self.written > 2 * len(self.lines) + SPARE_LINES:
                self._begin()
            else:
                os.write(self.file, line)
        except OSError:
            log.exception("The calls in flight cannot be noted in %s", folder())

    def _begin(self) -> None:
        """Make a file of the calls in flight, and put it in the place of the one before."""
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        made = self.path.with_suffix(".new")
        file = os.open(made, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        os.write(file, b"".join(self.lines.values()))
        made.rename(self.path)
        self._close()
        self.file, self.written = file, len(self.lines)

    def saved(self, calls: Iterable[Call]) -> None:
        """Forget calls that are recorded, or kept in a file of unsaved replies."""
        for call in calls:
            self.lines.pop(id(call), None)

    def end(self) -> None:
        """End in good order: every call was saved or kept."""
        self.path.unlink(missing_ok=True)
        self._close()

    def _close(self) -> None:
        if self.file is not None:
            os.close(self.file)


def _line_of(call: Call) -> bytes:
    """Return the record of a call without reply, in the form of Django's serializers.

    They take a hundred times as long, before every call.
    """
    fields = {
        "language_model": call.language_model_id,
        "started_at": call.started_at.isoformat(),
        "cost_usd": None if call.cost_usd is None else str(call.cost_usd),
        "error_kind": REPLY_LOST,
        "error_message": "It was sent; its worker died before the reply was saved.",
    }
    fields |= {name: getattr(call, name) for name in SAME}
    return f"{json.dumps({'model': 'evalhub.call', 'fields': fields})}\n".encode()


def take_in() -> None:
    """Record the calls of processes that have ended without saving them."""
    for path in sorted(folder().glob("*.jsonl")):
        with suppress(FileNotFoundError, BlockingIOError), path.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file.fileno()).st_ino == path.stat().st_ino:
                whole, _, _ = file.read().rpartition("\n")  # a line that broke off was not sent
                unsaved_replies.take_in_file(path, whole)
