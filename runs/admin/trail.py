"""The list that a person goes through, result by result, in the order in which they saw it.

It is taken when they come from the list and kept while they go from one result to the next, so
that overriding a result does not shuffle what comes after it.
"""

from typing import Any, NamedTuple

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.http import HttpRequest, QueryDict

from evalhub.models import ItemState
from runs.models import Assessment, Judging, Outcome, Result, TagSet

MOST = 5000
"""Longer lists are gone through up to here."""

SESSION_KEY = "result_trail"
KEPT = "trail"
"""Name in the address that says: as kept, do not look at the list again."""

FIRST = {Outcome.ERROR: 1, Outcome.UNJUDGED: 2, Outcome.FAILED: 3, Outcome.PASSED: 4}
SORTS = ("score", "agreement", "latency_ms", "cost_usd")


class Trail(NamedTuple):
    """Results in order, and the query string of the list that they come from."""

    ids: list[int]
    query: str

    def position(self, pk: int) -> int | None:
        """Counting from 1; None: the result is not in the list (any more)."""
        return self.ids.index(pk) + 1 if pk in self.ids else None

    def after(self, pk: int) -> int | None:
        place = self.position(pk)
        return self.ids[place] if place is not None and place < len(self.ids) else None

    def before(self, pk: int) -> int | None:
        place = self.position(pk)
        return self.ids[place - 2] if place is not None and place > 1 else None

    @property
    def suffix(self) -> str:
        """What the address of another result of this list ends with."""
        query = f"{self.query}&{KEPT}=1" if self.query else f"{KEPT}=1"
        return f"?{query}"


def trail_of(request: HttpRequest, result: Result, listed: QuerySet[Result] | None) -> Trail:
    """The list that the address speaks of; without one, all results of the same run.

    Args:
        listed: What the list in the admin showed, where the person comes from there.
    """
    query = _without_kept(request.GET)
    kept = request.session.get(SESSION_KEY)
    if KEPT in request.GET and kept and kept["query"] == query and result.pk in kept["ids"]:
        return Trail(kept["ids"], query)
    rows = _matching(request.GET, result, request) if listed is None else listed
    trail = Trail(list(rows.values_list("pk", flat=True)[:MOST]), query)
    request.session[SESSION_KEY] = trail._asdict()
    return trail


def _without_kept(query: QueryDict) -> str:
    copy = query.copy()
    copy.pop(KEPT, None)
    return copy.urlencode()


def _matching(query: QueryDict, result: Result, request: HttpRequest) -> QuerySet[Result]:
    """Results of a run as its page filters and sorts them."""
    chosen = query.get("run", "")
    run = int(chosen) if chosen.isdecimal() else result.run_id
    rows: QuerySet[Result] = Result.objects.readable_by(request.user).filter(run=run)
    if outcomes := query.getlist("outcome"):
        rows = rows.filter(outcome__in=outcomes)
    if (issue := query.get("issue", "")).isdecimal():
        rows = rows.filter(issue=int(issue))
    if tag := query.get("tag"):
        rows = rows.filter(tag_set__in=_tag_sets(tag))
    for flag in ("overridden", "disputed"):
        if query.get(flag) == "1":
            rows = rows.filter(**{f"is_{flag}": True})
    doubtful = _doubtful(run)
    if query.get("failed_judgments") == "1":
        rows = rows.filter(pk__in=doubtful)
    return _sorted(rows, query.get("sort", "test" if not chosen else ""), doubtful)


def _tag_sets(tag: str) -> list[int]:
    return [pk for pk, names in TagSet.objects.values_list("pk", "names") if tag in names]


def _doubtful(run: int) -> QuerySet[Any]:
    """Results of which a judgment of the current judging failed."""
    current = Judging.objects.filter(run=run, is_current=True)
    short = Q(state=ItemState.DONE, answered__lt=F("expected"))
    broken = Q(state=ItemState.ERROR, result__state=ItemState.DONE)
    return Assessment.objects.filter(short | broken, judging__in=current).values("result")


def _sorted(rows: QuerySet[Result], sort: str, doubtful: QuerySet[Any]) -> QuerySet[Result]:
    name = sort.lstrip("-")
    if name in SORTS:
        order = F(name).desc(nulls_last=True) if sort[0] == "-" else F(name).asc(nulls_last=True)
        return rows.order_by(order, "pk")
    if name:
        return rows.order_by("test_id", "repeat")
    looks = Case(When(pk__in=doubtful, then=Value(0)), default=Value(1))
    ranks = [When(outcome=outcome, then=Value(rank)) for outcome, rank in FIRST.items()]
    return rows.order_by(looks, Case(*ranks, default=Value(5)), "issue_id", "test_id", "pk")
