"""Paid replies that could not be saved with their item: its next try takes them.

They are kept in the record of their call (`Call.unsaved`) or, when the database takes nothing at
all, in a file of the folder `unsaved_replies`, which is taken in when a worker starts.
"""

import fcntl
import logging
import os
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core import serializers
from django.core.serializers.base import DeserializationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DataError, IntegrityError, transaction

from evalhub.llm.models import Call
from evalhub.work.spending import add_spent

log = logging.getLogger(__name__)

REFUSED = ".refused"


def folder() -> Path:
    return Path(settings.DATA_DIR) / "unsaved_replies"


def of_items(batch: str, item_ids: Sequence[int]) -> dict[int, list[Call]]:
    """Return the calls with unsaved replies by item; `batch` as calls name it."""
    found: dict[int, list[Call]] = defaultdict(list)
    rows = Call.objects.filter(batch=batch, item_id__in=item_ids, unsaved__isnull=False)
    for call in rows.order_by("pk"):
        assert call.item_id is not None
        found[call.item_id].append(call)
    return found


class Exact(DjangoJSONEncoder):
    """Keeps the microseconds by which a call is found again; Django's own drops them."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


def lines_of(calls: Sequence[Call]) -> str:
    """Return the records of calls as a file holds them, a line each."""
    return str(serializers.serialize("jsonl", calls, cls=Exact))


def write(calls: Sequence[Call]) -> None:
    """Write the records of calls to a new file. Failures are logged, with what was to be kept."""
    for call in calls:
        call.keep_reply()
    lines = lines_of([call for call in calls if call.pk is None])
    if not lines:
        return
    path = folder() / f"{uuid4().hex}.jsonl"
    try:
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        log.exception("%d paid replies can be saved nowhere but here:\n%s", len(calls), lines)
    else:
        log.error("%d calls are kept in %s until a worker starts", len(calls), path)


def take_in() -> None:
    """Record the calls of all files. A file that another process takes in is waited for."""
    for path in sorted(folder().glob("*.jsonl")):
        try:
            with path.open() as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                if path.exists():
                    take_in_file(path, file.read())
        except FileNotFoundError:
            continue  # another process was first


def take_in_file(path: Path, text: str) -> None:
    """Record the calls of a file that have no record, and remove it; put aside one that fails."""
    try:
        rows = (found.object for found in serializers.deserialize("jsonl", text))
        calls = [row for row in rows if isinstance(row, Call)]
        with transaction.atomic():
            record([call for call in calls if not _is_recorded(call)])
    except (DeserializationError, DataError, IntegrityError):
        log.exception("%s cannot be taken in: renamed to %s%s", path, path.name, REFUSED)
        path.rename(path.with_name(path.name + REFUSED))
    else:
        path.unlink()
        log.info("%d calls of %s are recorded", len(calls), path)


def _is_recorded(call: Call) -> bool:
    names = ("language_model_id", "batch", "item_id", "request_digest", "started_at")
    return Call.objects.filter(**{name: getattr(call, name) for name in names}).exists()


def record(calls: Sequence[Call]) -> None:
    """Save new calls and add their cost to their batches, as saving in time would have done."""
    add_spent(calls)
    Call.objects.bulk_create(calls)
