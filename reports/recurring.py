"""Reports and summaries that recur: made anew when they are due, and kept."""

from datetime import datetime

from django.http import QueryDict

from evalhub.models import User
from evalhub.recurring import Refused, do_due
from reports.models import Edition, RecurringReport
from reports.pages.registry import page_of
from reports.pages.shell import Reading
from reports.storing import stored

SUMMARY = "summary"
MOST_KEPT = 100
"""Editions of one report; the oldest go."""


def make_due(now: datetime | None = None) -> int:
    """Make what is due, and return how many were made or refused."""
    return do_due(RecurringReport, make, now)


def make(report: RecurringReport) -> str:
    """Make it now, and say in words what came of it.

    Raises:
        Refused: There is no such page any more, or the page does not understand the state.
    """
    edition = Edition.objects.create(report=report, content=_content(report))
    kept = report.editions.order_by("-pk").values_list("pk", flat=True)[:MOST_KEPT]
    report.editions.exclude(pk__in=list(kept)).delete()
    return f"Made edition {edition.pk}."


def _content(report: RecurringReport) -> dict[str, object]:
    try:
        page = page_of(report.page)
    except LookupError as error:
        raise Refused(str(error)) from error
    form = page.form(QueryDict(report.query))
    if form.problems:
        raise Refused(" ".join(form.problems))
    return stored(page.build(form.asked, Reading(nobody())))


def nobody() -> User:
    """A reader without any right: what is kept for all to read holds no sealed text."""
    return User(is_active=False)
