"""The database's clock, the only one by which workers on several machines compare times."""

import time
from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone
from django.utils.dateparse import parse_datetime


def now() -> datetime:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')")
            found = parse_datetime(cursor.fetchone()[0])
            assert found is not None
            return timezone.make_aware(found, timezone.get_fixed_timezone(0))
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]  # type: ignore[no-any-return]


def ago(seconds: float) -> datetime:
    return now() - timedelta(seconds=seconds)


def since_boot() -> float:
    """Return seconds of a clock that nobody sets and that runs while the machine sleeps."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()
