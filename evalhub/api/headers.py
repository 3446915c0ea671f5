"""Headers of the API.

The `ETag` of a row is a digest of it as its reader is shown it: the rule of the admin's pages (see
`evalhub.admin_site.edit_conflicts`) for a row as a whole.

The `Watermark` is the time from which a script that follows changes asks next, by `updated_since`.
A row has the time at which it was saved, and is seen once that write is committed, which may be a
minute later for an import. A script that went on from its own clock would pass over such rows.
"""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from django.utils.http import parse_etags
from rest_framework.renderers import JSONRenderer

ETAG, IF_MATCH, IDEMPOTENCY_KEY = "ETag", "If-Match", "Idempotency-Key"
DIGITS = 32
WEAK = "W/"


def etag_of(data: Any) -> str:
    """Return the strong ETag of a serialized row."""
    return f'"{sha256(JSONRenderer().render(data)).hexdigest()[:DIGITS]}"'


def matches(header: str, etag: str) -> bool:
    """Tell whether an `If-Match` has the ETag, or any by "*".

    A proxy that compresses marks it as weak; it is still the digest of the same row.
    """
    tags = parse_etags(header)
    return tags == ["*"] or etag in [tag.removeprefix(WEAK) for tag in tags]


WATERMARK = "Watermark"
MARGIN = timedelta(minutes=1)
"""More than clocks of several machines differ, and than a save waits for its turn on SQLite."""

LOCK_WAIT_MS = 1000
"""Time in which ordinary writes on SQLite end. Longer ones are not waited for."""

OLDEST_WRITE = """
    SELECT least(clock_timestamp(), min(xact_start)) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_xid IS NOT NULL AND pid <> pg_backend_pid()
"""


def watermark(asked: datetime | None) -> datetime:
    """Return a time no later than that of any row that is not seen yet. Ask before reading.

    `asked` is what the script asked for; SQLite has no better answer while a long write is open.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(OLDEST_WRITE)
            return cursor.fetchone()[0] - MARGIN  # type: ignore[no-any-return]
    now = timezone.now()
    if connection.in_atomic_block or _can_write():
        return now - MARGIN
    return asked or datetime.min.replace(year=1970, tzinfo=UTC)


def _can_write() -> bool:
    """Return True if no other write is open: SQLite lets one transaction write at a time."""
    options: Any = settings.DATABASES["default"]["OPTIONS"]
    try:
        _wait_for_locks(LOCK_WAIT_MS)
        with transaction.atomic():
            return True
    except OperationalError:
        return False
    finally:
        _wait_for_locks(options["timeout"] * 1000)


def _wait_for_locks(milliseconds: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {milliseconds}")
