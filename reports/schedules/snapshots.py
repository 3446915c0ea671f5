"""Scheduled reports and summaries: make what is due and keep a snapshot of each."""

from datetime import datetime
from typing import cast

from django.http import QueryDict
from django.urls import reverse

from evalhub.access.sealed import FiguresOnly
from evalhub.models import User
from evalhub.schedules import ScheduleRefused, do_due
from reports.documents.reading import Reading
from reports.documents.storage import stored
from reports.models import ReportSchedule, Snapshot
from reports.registry import page_of
from reports.summaries.requests import REQUEST_PERMISSION
from reports.summaries.schedules import ask_anew, like

SUMMARY = "summary"
"""Takes the place of a page's key where an executive summary is scheduled."""

MAX_KEPT = 100
"""Snapshots of one report; older ones are deleted."""


def subject_of(page: str, state: str) -> tuple[str, str]:
    """Return the default title of a scheduled report and the address of its page.

    Raises:
        LookupError: There is no such page.
        ScheduleRefused: There is no such summary.
    """
    if page == SUMMARY:
        summary = like(state)
        return f"Summary of {summary.suite}", summary.get_absolute_url()
    return page_of(page).title, f"{reverse(f'reports:{page}')}?{state}"


def make_due(now: datetime | None = None) -> int:
    """Make every report that is due; return how many were made or refused."""
    return do_due(ReportSchedule, make, now)


def make(report: ReportSchedule) -> str:
    """Make the report now and return a sentence on the result.

    Raises:
        ScheduleRefused: The page is gone or rejects the stored filters, or the owner of a scheduled
            summary may no longer request summaries.
    """
    if report.page == SUMMARY:
        return _asked(report)
    snapshot = Snapshot.objects.create(report=report, content=_content(report))
    kept = report.snapshots.order_by("-pk").values_list("pk", flat=True)[:MAX_KEPT]
    report.snapshots.exclude(pk__in=list(kept)).delete()
    return f"Made snapshot {snapshot.pk}."


def _asked(report: ReportSchedule) -> str:
    """Request a summary with the permissions of the schedule's owner, since it costs money."""
    like(report.query)
    by = report.requested_by
    if by is None or not by.has_perm(REQUEST_PERMISSION):
        raise ScheduleRefused(
            "The owner of this schedule may not ask for summaries any more. "
            "Somebody else has to schedule it."
        )
    return ask_anew(report.query)


def _content(report: ReportSchedule) -> dict[str, object]:
    try:
        page = page_of(report.page)
    except LookupError as error:
        raise ScheduleRefused(str(error)) from error
    form = page.form(QueryDict(report.query))
    if form.problems:
        raise ScheduleRefused(" ".join(form.problems))
    # Querysets only ask it for permissions, as they would ask a user.
    reader = cast(User, FiguresOnly())
    return stored(page.build(form.filters, Reading(reader)))
