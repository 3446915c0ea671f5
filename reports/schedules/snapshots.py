"""Reports and summaries that recur: made anew when they are due, and kept."""

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
"""In the place of a page's key: an executive summary is asked for."""

MOST_KEPT = 100
"""Editions of one report; the oldest go."""


def subject_of(page: str, state: str) -> tuple[str, str]:
    """What recurs is called if nobody says otherwise, and the address where it is asked for.

    Raises:
        LookupError: There is no such page.
        Refused: There is no such summary.
    """
    if page == SUMMARY:
        summary = like(state)
        return f"Summary of {summary.suite}", summary.get_absolute_url()
    return page_of(page).title, f"{reverse(f'reports:{page}')}?{state}"


def make_due(now: datetime | None = None) -> int:
    """Make what is due, and return how many were made or refused."""
    return do_due(ReportSchedule, make, now)


def make(report: ReportSchedule) -> str:
    """Make it now, and say in words what came of it.

    Raises:
        Refused: There is no such page any more, or the page does not understand the state; or who
            let a summary recur may not ask for one any more.
    """
    if report.page == SUMMARY:
        return _asked(report)
    snapshot = Snapshot.objects.create(report=report, content=_content(report))
    kept = report.snapshots.order_by("-pk").values_list("pk", flat=True)[:MOST_KEPT]
    report.snapshots.exclude(pk__in=list(kept)).delete()
    return f"Made edition {snapshot.pk}."


def _asked(report: ReportSchedule) -> str:
    """A summary costs money: it is asked for with the rights of who let it recur."""
    like(report.query)
    by = report.requested_by
    if by is None or not by.has_perm(REQUEST_PERMISSION):
        raise ScheduleRefused(
            "Who let it recur may not ask for summaries any more: let another do it."
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
    # It only ever stands where a queryset asks who reads.
    reader = cast(User, FiguresOnly())
    return stored(page.build(form.asked, Reading(reader)))
