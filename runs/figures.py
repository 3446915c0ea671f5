"""Runs in numbers, for lists and the command line, in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max, Min, Sum

from evalhub.models import BatchState
from evalhub.statistics.interval import Interval
from evalhub.statistics.wilson import wilson_interval
from runs.models import Judging, Outcome, Result, Run
from runs.states import current_of, state_of, state_words


@dataclass
class Figures:
    """One run in numbers. Rates count decided results only: passed and failed ones.

    `share` is weighted where weights differ; None where nothing is decided. `interval` is
    Wilson's, and None where answers are repeated or weighted, for which it does not hold.
    `spent_usd` None: no prices are known; `is_cost_partial`: only some are.
    """

    state: BatchState
    state_words: str
    reason: str
    counts: dict[str, int]
    share: float | None = None
    interval: Interval | None = None
    spent_usd: Decimal | None = None
    is_cost_partial: bool = False
    judgings: list[Judging] = field(default_factory=list)

    @property
    def is_live(self) -> bool:
        return self.state == BatchState.LIVE

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def ended(self) -> int:
        return self.total - self.counts[Outcome.PENDING]

    @property
    def passed(self) -> int:
        return self.counts[Outcome.PASSED]

    @property
    def decided(self) -> int:
        return self.passed + self.counts[Outcome.FAILED]

    @property
    def percent_done(self) -> float:
        return 100 * self.ended / self.total if self.total else 0.0

    @property
    def judged_by(self) -> str:
        """The current jury, and how many other judgings there are."""
        current = current_of(self.judgings)
        if current is None or not current.jury.get("judges"):
            return "people only"
        others = len(self.judgings) - 1
        name = current.jury_name or "judges"
        return f"{name} (+{others} more judging{'s' * (others != 1)})" if others else name

    @property
    def is_judged_by_scripted(self) -> bool:
        return any(
            judge["endpoint"].get("is_scripted")
            for judging in self.judgings
            if judging.is_current
            for judge in judging.jury.get("judges", ())
        )


def figures_of(runs: Sequence[Run]) -> dict[int, Figures]:
    """Figures of these runs by their id; two queries."""
    outcomes: dict[int, list[dict[str, Any]]] = defaultdict(list)
    rows = Result.objects.filter(run__in=runs).order_by().values("run_id", "outcome")
    for row in rows.annotate(
        n=Count("pk"), weights=Sum("weight"), least=Min("weight"), most=Max("weight")
    ):
        outcomes[row["run_id"]].append(row)
    judgings: dict[int, list[Judging]] = defaultdict(list)
    for judging in Judging.objects.filter(run__in=runs).order_by("number").defer("statistics"):
        judgings[judging.run_id].append(judging)
    return {run.pk: _figures(run, outcomes[run.pk], judgings[run.pk]) for run in runs}


def _figures(run: Run, rows: list[dict[str, Any]], judgings: list[Judging]) -> Figures:
    figures = Figures(
        state=state_of(run, judgings),
        state_words=state_words(run, judgings),
        reason=run.reason or next((judging.reason for judging in judgings if judging.reason), ""),
        counts=dict.fromkeys(Outcome.values, 0) | {row["outcome"]: row["n"] for row in rows},
        judgings=judgings,
    )
    decided = [row for row in rows if row["outcome"] in (Outcome.PASSED, Outcome.FAILED)]
    if decided:
        weight = sum(row["weights"] for row in decided)
        passed = sum(row["weights"] for row in decided if row["outcome"] == Outcome.PASSED)
        figures.share = passed / weight
        weights = {row["least"] for row in decided} | {row["most"] for row in decided}
        if run.repeats == 1 and len(weights) == 1:
            figures.interval = wilson_interval(figures.passed, figures.decided)
    figures.spent_usd, figures.is_cost_partial = _spent(run, judgings)
    return figures


def _spent(run: Run, judgings: Iterable[Judging]) -> tuple[Decimal | None, bool]:
    """What was spent on answers and judgments, and whether prices of some are not known."""
    parts = [] if run.answers_supplied else [(run.spent_usd, [run.endpoint])]
    for judging in judgings:
        if endpoints := [judge["endpoint"] for judge in judging.jury.get("judges", ())]:
            parts.append((judging.spent_usd, endpoints))
    priced = [_has_prices(endpoint) for _, endpoints in parts for endpoint in endpoints]
    if not any(priced):
        return None, False
    return sum((spent for spent, _ in parts), Decimal(0)), not all(priced)


def _has_prices(endpoint: dict[str, Any]) -> bool:
    return (
        endpoint.get("input_usd_per_mtok") is not None
        and endpoint.get("output_usd_per_mtok") is not None
    )
