"""Schedules: cron expressions in the site's time zone, active until paused."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

from croniter import CroniterError, croniter
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils import timezone

log = logging.getLogger(__name__)

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


DEFAULT = "0 6 * * 1"
SUGGESTED = ("0 6 * * *", DEFAULT, "0 6 * * 1-5", "0 6 1 * *")
"""Cron expressions that forms propose."""

OWN = "own"
"""Choice of a cron expression of one's own."""


class BadCron(ValueError):
    """An invalid cron expression; the message says why."""


def cron_in(text: str, *, required: bool = False) -> str:
    """Return the cron expression that a form was sent, or "".

    Raises:
        ValidationError: It is invalid or never occurs, or it is required and missing.
    """
    cron = " ".join(text.split())
    try:
        if cron or required:
            next_times(cron, timezone.now(), 1)
    except BadCron as error:
        raise ValidationError(str(error)) from error
    return cron


class ScheduleRefused(Exception):
    """A scheduled action that is no longer allowed; the message says why."""


class ScheduledModel(models.Model):
    """A row whose action repeats while it has a cron expression and is not paused."""

    cron = models.CharField(
        max_length=100,
        blank=True,
        help_text="For example 0 6 * * 1 for Mondays at 06:00. Leave empty to run once.",
    )
    is_paused = models.BooleanField(default=False)
    next_at = models.DateTimeField(null=True, blank=True)
    last_at = models.DateTimeField(null=True, blank=True)
    last_outcome = models.TextField(blank=True)

    class Meta:
        abstract = True

    def start_schedule(self, cron: str) -> None:
        """Start the schedule; raise BadCron as `next_at`."""
        self.cron, self.is_paused = cron, False
        self.next_at = next_at(cron, timezone.now())
        self.save(update_fields=["cron", "is_paused", "next_at"])

    def pause(self) -> None:
        self.is_paused, self.next_at = True, None
        self.save(update_fields=["is_paused", "next_at"])

    def resume(self) -> None:
        self.start_schedule(self.cron)


def do_due(
    kind: type[ScheduledModel], act: Callable[[Any], str], now: datetime | None = None
) -> int:
    """Run the due rows of one kind and return their number.

    A conditional update claims each row, so several processes may call this at once. Any number
    of missed times runs once.

    Args:
        act: Performs the action and returns its outcome as text; may raise `ScheduleRefused`.
    """
    now = now or timezone.now()
    due = kind._default_manager.filter(is_paused=False, next_at__lte=now).exclude(cron="")
    return sum(_done(row, act, now) for row in due)


@transaction.atomic
def _done(row: ScheduledModel, act: Callable[[Any], str], now: datetime) -> bool:
    """Claim and run a row in one transaction, so that a crash undoes the claim."""
    rows = type(row)._default_manager
    claim = rows.filter(pk=row.pk, next_at=row.next_at, is_paused=False)
    try:
        later = next_at(row.cron, now)
    except BadCron as error:
        return bool(claim.update(is_paused=True, next_at=None, last_outcome=str(error)))
    if not claim.update(next_at=later, last_at=now):
        return False
    rows.filter(pk=row.pk).update(last_outcome=_outcome(row, act))
    return True


def _outcome(row: ScheduledModel, act: Callable[[Any], str]) -> str:
    """Run the action and return its outcome or error as text."""
    try:
        with transaction.atomic():
            return act(row)
    except ScheduleRefused as error:
        return f"Refused: {error}"
    except Exception as error:
        log.exception("%r could not be done", row)
        return f"Failed: {error}"


def next_at(cron: str, after: datetime) -> datetime:
    """Return the first time after `after`; raise BadCron if it is invalid or never occurs."""
    return next_times(cron, after, 1)[0]


def next_times(cron: str, after: datetime, count: int) -> list[datetime]:
    """Return the next `count` times, in the site's time zone; raise BadCron as `next_at`."""
    fields = cron.split()
    if len(fields) != 5:
        raise BadCron(
            f"{cron!r} has {len(fields)} fields: enter minute, hour, day of month, month and "
            "day of week, such as 0 6 * * 1 for Mondays at 06:00."
        )
    try:
        times = croniter(" ".join(fields), after.astimezone(timezone.get_default_timezone()))
        return [times.get_next(datetime) for _ in range(count)]
    except (CroniterError, ValueError) as error:
        raise BadCron(f"{cron!r} never occurs: {error}.") from error


def in_words(cron: str) -> str:
    """Describe common expressions, such as "Mondays at 06:00"; return others unchanged."""
    minute, hour, day, month, weekday = cron.split()
    if not (minute.isdigit() and month == "*"):
        return cron
    if (hour, day, weekday) == ("*", "*", "*"):
        return f"every hour at {int(minute)} minutes past"
    if not hour.isdigit():
        return cron
    at = f"at {int(hour):02}:{int(minute):02}"
    if (day, weekday) == ("*", "*"):
        return f"every day {at}"
    if day == "*" and weekday == "1-5":
        return f"Monday to Friday {at}"
    if day == "*" and weekday.isdigit():
        return f"{DAYS[int(weekday) % 7]}s {at}"
    if day.isdigit() and weekday == "*":
        return f"day {int(day)} of every month {at}"
    return cron
