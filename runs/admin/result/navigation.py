"""Navigation through a list of results, in the order in which the list showed them.

The order is kept while the reader goes from result to result, so that overriding a result does
not reorder the rest.
"""

from dataclasses import replace
from typing import NamedTuple

from django.db.models import QuerySet
from django.http import HttpRequest

from evalhub.admin_site.pages import current_user
from runs.limits import MAX_NAVIGATED_RESULTS
from runs.models import JudgeRun, Result, Run
from runs.result_list.filters import Filters
from runs.result_list.listing import Listing

SESSION_KEY = "result_trail"
KEPT = "navigation"
"""URL parameter for using the kept order instead of reading the list again."""


class ResultNavigation(NamedTuple):
    """Result ids in order, and the query string of their list."""

    ids: list[int]
    query: str

    def position(self, pk: int) -> int | None:
        """Return the position from 1; None if the result is not in the list."""
        return self.ids.index(pk) + 1 if pk in self.ids else None

    def after(self, pk: int) -> int | None:
        place = self.position(pk)
        return self.ids[place] if place is not None and place < len(self.ids) else None

    def before(self, pk: int) -> int | None:
        place = self.position(pk)
        return self.ids[place - 2] if place is not None and place > 1 else None

    @property
    def suffix(self) -> str:
        """Return the query string for other results of this list."""
        return f"?{self.query}&{KEPT}=1" if self.query else f"?{KEPT}=1"


def navigation_of(
    request: HttpRequest, result: Result, listed: QuerySet[Result] | None
) -> ResultNavigation:
    """Return the list in the URL, or all results of the same run.

    Args:
        listed: The rows of the admin's list, if the reader comes from there.
    """
    own = request.GET.copy()
    own.pop(KEPT, None)
    query, kept = own.urlencode(), request.session.get(SESSION_KEY)
    if KEPT in request.GET and kept and kept["query"] == query and result.pk in kept["ids"]:
        return ResultNavigation(kept["ids"], query)
    rows = _matching(request, result) if listed is None else listed
    navigation = ResultNavigation(
        list(rows.values_list("pk", flat=True)[:MAX_NAVIGATED_RESULTS]), query
    )
    if kept != navigation._asdict():  # a page that is read again writes nothing
        request.session[SESSION_KEY] = navigation._asdict()
    return navigation


def _matching(request: HttpRequest, result: Result) -> QuerySet[Result]:
    """Select results as the run page filters and sorts them; without it, test by test."""
    chosen = request.GET.get("run", "")
    run = Run.objects.filter(pk=chosen).first() if chosen.isdecimal() else None
    filters = Filters.read(request.GET)
    if run is None:
        filters = replace(filters, sort=filters.sort or "test")
    run = run or result.run
    judge_run = JudgeRun.objects.filter(run=run, is_active=True).only("pk").order_by("pk").first()
    listing = Listing(run, judge_run, current_user(request))
    rows: QuerySet[Result] = listing.in_order(filters).readable_by(request.user)
    return rows
