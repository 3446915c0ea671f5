"""Scheduled launches, and launches that run again."""

from datetime import datetime

from django.utils import timezone

from evalhub.display.formatting import counted
from evalhub.models import User
from evalhub.schedules import ScheduleRefused, do_due
from runs.launching.launch import launch
from runs.launching.launch_options import LaunchRefused, read_spec
from runs.models import Launch


def launch_scheduled(now: datetime | None = None) -> int:
    """Launch what is due; return the number launched or refused."""
    return do_due(Launch, _launch, now)


def launch_again(record: Launch, *, by: User | None) -> Launch:
    """Start the same runs again, now, and store the outcome with the launch.

    Raises:
        LaunchRefused: Something it names no longer exists or can no longer run.
    """
    record.last_outcome = _launched(record, by)
    record.last_at = timezone.now()
    record.save(update_fields=["last_at", "last_outcome"])
    return record


def _launch(record: Launch) -> str:
    try:
        return _launched(record, record.requested_by)
    except LaunchRefused as error:
        raise ScheduleRefused(str(error)) from error


def _launched(record: Launch, by: User | None) -> str:
    before = record.runs.count()
    launch(read_spec(record.spec), by=by, record=record)
    return f"Launched {counted(record.runs.count() - before, 'run')}."
