"""Runs in numbers, for lists and the command line, in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evalhub.display.formatting import count, counted
from evalhub.models import BatchState
from runs.figures.partly_judged import PartlyJudged, partly_judged
from runs.figures.rate import Rate
from runs.figures.states import current_of, state_label, state_of
from runs.figures.tallies import Counts, Score, Tally, group_of, score_of, tallies_of_runs
from runs.models import JudgeRun, Run

OF_JUDGE_RUNS = (
    *("number", "is_active", "state", "reason", "spent_usd"),
    *("jury", "jury_name", "whole_fingerprint", "rubric_fingerprint"),
)
"""Columns that are read of judge runs; others are wide."""


@dataclass(frozen=True)
class RunFigures:
    """The figures of one run.

    `score` comes without its interval. `spent_usd` None: no prices are known; `is_cost_partial`:
    only some are. `partly_judged` is of the active judge run.
    """

    state: BatchState
    state_label: str
    reason: str
    counts: Counts
    rate: Rate
    score: Score
    spent_usd: Decimal | None
    is_cost_partial: bool
    judge_runs: list[JudgeRun]
    partly_judged: Sequence[PartlyJudged] = ()

    @property
    def is_live(self) -> bool:
        return self.state == BatchState.LIVE

    @property
    def is_done(self) -> bool:
        return self.state == BatchState.DONE

    @property
    def total(self) -> int:
        return self.counts.total

    @property
    def ended(self) -> int:
        return self.counts.total - self.counts.pending

    @property
    def percent_done(self) -> float:
        return 100 * self.ended / self.total if self.total else 0.0

    @property
    def current(self) -> JudgeRun | None:
        return current_of(self.judge_runs)

    @property
    def partly_judged_words(self) -> str:
        """How many answers lack judgments, and of which kind if there is one; "" for none."""
        n = sum(kind.answers for kind in self.partly_judged)
        if len(self.partly_judged) == 1:
            return f"{count(n)} {self.partly_judged[0].judged_by}"
        return f"{count(n)} judged in part" if n else ""

    @property
    def judged_by(self) -> str:
        """The active jury, and the number of other judge runs."""
        current = self.current
        if current is None or not current.jury.get("judges"):
            return "annotators only"
        others = len(self.judge_runs) - 1
        name = current.jury_name or "judges"
        return f"{name} (+{counted(others, 'more judge run')})" if others else name


def figures_of(runs: Sequence[Run]) -> dict[int, RunFigures]:
    """Figures of these runs by their id; four queries."""
    tallies: dict[int, list[Tally]] = defaultdict(list)
    for tally in tallies_of_runs(runs):
        tallies[tally.run_id].append(tally)
    judge_runs: dict[int, list[JudgeRun]] = defaultdict(list)
    found = JudgeRun.objects.filter(run__in=runs).order_by("number")
    for judge_run in found.only("run", *OF_JUDGE_RUNS):
        judge_runs[judge_run.run_id].append(judge_run)
    active = {pk: current.pk for pk, own in judge_runs.items() if (current := current_of(own))}
    partly = partly_judged(active.values())
    return {
        run.pk: _figures(
            run, tallies[run.pk], judge_runs[run.pk], partly.get(active.get(run.pk, 0), ())
        )
        for run in runs
    }


def _figures(
    run: Run,
    tallies: Sequence[Tally],
    judge_runs: list[JudgeRun],
    partly_judged: Sequence[PartlyJudged],
) -> RunFigures:
    spent_usd, is_cost_partial = spent_in_all(run, judge_runs)
    group = group_of(tallies)
    return RunFigures(
        state=state_of(run, judge_runs),
        state_label=state_label(run, judge_runs),
        reason=run.reason
        or next((judge_run.reason for judge_run in judge_runs if judge_run.reason), ""),
        counts=group,
        rate=group.rate(answers=run.repeats),
        score=score_of(tallies),
        spent_usd=spent_usd,
        is_cost_partial=is_cost_partial,
        judge_runs=judge_runs,
        partly_judged=partly_judged,
    )


def spent_in_all(run: Run, judge_runs: Iterable[JudgeRun]) -> tuple[Decimal | None, bool]:
    """Return the cost of answers and judgments, and whether some prices are unknown."""
    every: list[Run | JudgeRun] = [run, *judge_runs]
    parts = [part for part in every if _endpoints(part)]
    priced = [_has_prices(endpoint) for part in parts for endpoint in _endpoints(part)]
    if not any(priced):
        return None, False
    return sum((part.spent_usd for part in parts), Decimal(0)), not all(priced)


def spent_usd(part: Run | JudgeRun) -> Decimal | None:
    """Return the cost of a run's own calls, or of a judge run's; None without any price."""
    priced = any(_has_prices(endpoint) for endpoint in _endpoints(part))
    return part.spent_usd if priced else None


def _endpoints(part: Run | JudgeRun) -> list[dict[str, Any]]:
    """Return the endpoints called, as copied at launch."""
    if isinstance(part, JudgeRun):
        judges = [judge["endpoint"] for judge in part.jury.get("judges", ())]
        return [*judges, *part.jury.get("repair_models", {}).values()]
    return [] if part.has_imported_answers else [part.endpoint]


def _has_prices(endpoint: dict[str, Any]) -> bool:
    """Return whether costs of its calls are known: by prices, or as an application states them."""
    if endpoint.get("application", {}).get("cost_path"):
        return True
    return (
        endpoint.get("input_usd_per_mtok") is not None
        and endpoint.get("output_usd_per_mtok") is not None
    )
