"""Reports and summaries that recur: made anew when they are due, and kept."""

from datetime import datetime
from typing import cast

from django.http import QueryDict
from django.urls import reverse

from evalhub.access.sealed import FiguresOnly
from evalhub.models import User
from evalhub.recurring import Refused, do_due
from reports.models import Edition, RecurringReport
from reports.pages.registry import page_of
from reports.pages.shell import Reading
from reports.storing import stored
from reports.summaries.ask import ASK
from reports.summaries.recurring import ask_anew, like

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
    return do_due(RecurringReport, make, now)


def make(report: RecurringReport) -> str:
    """Make it now, and say in words what came of it.

    Raises:
        Refused: There is no such page any more, or the page does not understand the state; or who
            let a summary recur may not ask for one any more.
    """
    if report.page == SUMMARY:
        return _asked(report)
    edition = Edition.objects.create(report=report, content=_content(report))
    kept = report.editions.order_by("-pk").values_list("pk", flat=True)[:MOST_KEPT]
    report.editions.exclude(pk__in=list(kept)).delete()
    return f"Made edition {edition.pk}."


def _asked(report: RecurringReport) -> str:
    """A summary costs money: it is asked for with the rights of who let it recur."""
    like(report.query)
    by = report.requested_by
    if by is None or not by.has_perm(ASK):
        raise Refused("Who let it recur may not ask for summaries any more: let another do it.")
    return ask_anew(report.query)


def _content(report: RecurringReport) -> dict[str, object]:
    try:
        page = page_of(report.page)
    except LookupError as error:
        raise Refused(str(error)) from error
    form = page.form(QueryDict(report.query))
    if form.problems:
        raise Refused(" ".join(form.problems))
    # It only ever stands where a queryset asks who reads.
    reader = cast(User, FiguresOnly())
    return stored(page.build(form.asked, Reading(reader)))
