"""How far a run has come: small enough to be asked every second or so."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, F, Q

from evalhub.models import BatchState, ItemState
from reports.queries.tallies import Counts
from runs.models import Assessment, Judging, Result, Run


@dataclass(frozen=True)
class Progress:
    """A run and its judging in numbers.

    `answered` and `judged` include those that ended in an error; `judged` is of `to_judge`, which
    is 0 where nobody judges. `state` is that of run and judgings together (`state_of`).
    `judging` is the number of the one that is told of, where that is not the current one.
    """

    state: str
    reason: str
    is_live: bool
    total: int
    answered: int
    judged: int
    to_judge: int
    judging: int | None
    counts: Counts
    retryable: int

    @property
    def awaiting(self) -> int:
        """Answers that nobody has judged yet."""
        return max(0, self.counts.pending - (self.total - self.answered))

    def share(self, n: int) -> float:
        """Percent of the results."""
        return 100 * n / self.total if self.total else 0.0

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "counts": self.counts.as_dict(), "awaiting": self.awaiting}


def progress_of(run: Run, judgings: list[Judging]) -> Progress:
    """The progress of a run whose judgings these are; two queries."""
    rows = Result.objects.filter(run=run).order_by().values_list("outcome", "state")
    results = list(rows.annotate(Count("pk")))
    current = next((judging for judging in judgings if judging.is_current), None)
    shown = _shown(judgings)
    judged, to_judge, doubtful = _assessed(shown, current)
    state = state_of(run, judgings)
    return Progress(
        state=state,
        reason=run.reason or (shown.reason if shown else ""),
        is_live=state == BatchState.LIVE,
        total=sum(n for _, _, n in results),
        answered=_sum(results, {ItemState.DONE, ItemState.ERROR}),
        judged=judged,
        to_judge=to_judge,
        judging=shown.number if shown and not shown.is_current else None,
        counts=_counts(results),
        retryable=_sum(results, {ItemState.ERROR}) + doubtful,
    )


def state_of(run: Run, judgings: Sequence[Judging]) -> str:
    """The state of a run as a whole: once it is answered, it is as its judgings are.

    Working outranks standing still, and that outranks done; judgings that were cancelled or
    failed and are not current say nothing of the run.
    """
    if run.state != BatchState.DONE:
        return run.state
    states = {judging.state for judging in judgings}
    if BatchState.LIVE in states:
        return BatchState.LIVE.value
    current = {judging.state for judging in judgings if judging.is_current} - {BatchState.DONE}
    return current.pop() if current else run.state


def _shown(judgings: list[Judging]) -> Judging | None:
    """The judging whose progress is told: the one at work, else the current one."""
    live = [judging for judging in judgings if judging.is_live]
    return next(iter(live or [judging for judging in judgings if judging.is_current]), None)


def _assessed(shown: Judging | None, current: Judging | None) -> tuple[int, int, int]:
    """Of the judging shown: ended and all; of the current one: those with a failed judgment."""
    if shown is None or not shown.jury.get("judges"):
        return 0, 0, 0
    short = Q(judging=current, state=ItemState.DONE) & Q(answered__lt=F("expected"))
    broken = Q(judging=current, state=ItemState.ERROR, result__state=ItemState.DONE)
    mine = Q(judging=shown)
    found = Assessment.objects.filter(judging__in={shown, current} - {None}).aggregate(
        ended=Count("pk", filter=mine & Q(state__in=[ItemState.DONE, ItemState.ERROR])),
        all=Count("pk", filter=mine),
        doubtful=Count("pk", filter=short | broken),
    )
    return found["ended"], found["all"], found["doubtful"]


def _sum(results: list[tuple[str, str, int]], states: set[str]) -> int:
    return sum(n for _, state, n in results if state in states)


def _counts(results: list[tuple[str, str, int]]) -> Counts:
    found: dict[str, int] = {}
    for outcome, _, n in results:
        found[outcome] = found.get(outcome, 0) + n
    return Counts(**found)
