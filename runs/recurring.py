"""Launches that recur: by a cron expression, in the site's time zone, until they are paused."""

import logging
from datetime import datetime

from croniter import CroniterError, croniter
from django.db import transaction
from django.utils import timezone

from evalhub.models import User
from runs.launch import launch
from runs.models import Launch
from runs.spec import LaunchRefused, read_spec

log = logging.getLogger(__name__)

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


class BadCron(ValueError):
    """A cron expression that names no time; the message says what is wrong."""


def next_at(cron: str, after: datetime) -> datetime:
    """The first time after `after` that the expression names.

    Raises:
        BadCron: It has not five fields, or names no time that will come.
    """
    return next_times(cron, after, 1)[0]


def next_times(cron: str, after: datetime, count: int) -> list[datetime]:
    """The next so many times, in the site's time zone.

    Raises:
        BadCron: See `next_at`.
    """
    fields = cron.split()
    if len(fields) != 5:
        raise BadCron(
            f"{cron!r} has {len(fields)} fields: write minute, hour, day of month, month and "
            "day of week, such as 0 6 * * 1 for Mondays at six."
        )
    try:
        times = croniter(" ".join(fields), after.astimezone(timezone.get_default_timezone()))
        return [times.get_next(datetime) for _ in range(count)]
    except (CroniterError, ValueError) as error:
        raise BadCron(f"{cron!r} names no time: {error}.") from error


def in_words(cron: str) -> str:
    """Common expressions in words, such as "Mondays at 06:00"; others as they are."""
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


def recur(record: Launch, cron: str) -> None:
    """Let a launch recur from now on.

    Raises:
        BadCron: See `next_at`.
    """
    record.cron, record.is_paused = cron, False
    record.next_at = next_at(cron, timezone.now())
    record.save(update_fields=["cron", "is_paused", "next_at"])


def pause(record: Launch) -> None:
    """Let it not recur until it is resumed."""
    record.is_paused, record.next_at = True, None
    record.save(update_fields=["is_paused", "next_at"])


def resume(record: Launch) -> None:
    """Let it recur again, at the next time that its expression names."""
    recur(record, record.cron)


def launch_due(now: datetime | None = None) -> int:
    """Launch what is due, and return how many were launched or refused.

    A launch is claimed by a conditional update, so several processes may call this at once. A
    time that was missed, once or often, fires once.
    """
    now = now or timezone.now()
    due = Launch.objects.filter(is_paused=False, next_at__lte=now).exclude(cron="")
    return sum(_launch_claimed(record, now) for record in due)


def launch_again(record: Launch, *, by: User | None) -> Launch:
    """Make the same runs once more, now, and keep the outcome with the launch.

    Raises:
        LaunchRefused: Something it names does not exist or may not run any more.
    """
    before = record.runs.count()
    launch(read_spec(record.spec), by=by, record=record)
    record.last_at = timezone.now()
    record.last_outcome = _launched(record.runs.count() - before)
    record.save(update_fields=["last_at", "last_outcome"])
    return record


@transaction.atomic
def _launch_claimed(record: Launch, now: datetime) -> bool:
    """In one transaction with the claim: what dies half-way has not been claimed."""
    claim = Launch.objects.filter(pk=record.pk, next_at=record.next_at, is_paused=False)
    try:
        later = next_at(record.cron, now)
    except BadCron as error:
        return bool(claim.update(is_paused=True, next_at=None, last_outcome=str(error)))
    if not claim.update(next_at=later, last_at=now):
        return False
    outcome = _outcome(record)
    Launch.objects.filter(pk=record.pk).update(last_outcome=outcome)
    return True


def _outcome(record: Launch) -> str:
    """Launch, and say in words what came of it; errors too."""
    before = record.runs.count()
    try:
        with transaction.atomic():
            spec = read_spec(record.spec)
            launch(spec, by=record.requested_by, record=record)
    except LaunchRefused as error:
        return f"Refused: {error}"
    except Exception as error:
        log.exception("Launch %s could not be made", record.pk)
        return f"Failed: {error}"
    return _launched(record.runs.count() - before)


def _launched(runs: int) -> str:
    return f"Launched {runs} run{'' if runs == 1 else 's'}."
