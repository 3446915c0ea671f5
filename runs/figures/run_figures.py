"""Runs in numbers, for lists and the command line, in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from evalhub.display.formatting import counted
from evalhub.models import BatchState
from evalhub.work.cost_total import Spent, spent_by
from runs.figures.partly_judged import PartlyJudged, partly_judged
from runs.figures.rate import Rate
from runs.figures.states import current_of, state_label, state_of
from runs.figures.tallies import Counts, Score, Tally, group_of, score_of, tallies_of_runs
from runs.models import JudgeRun, Run

OF_JUDGE_RUNS = (
    *("number", "is_active", "state", "reason", "spent_usd", "unpriced_calls"),
    *("jury", "jury_name", "whole_fingerprint", "rubric_fingerprint", "provenance_parts"),
)
"""Columns that are read of judge runs; others are wide."""


@dataclass(frozen=True)
class RunFigures:
    """The figures of one run.

    `score` comes without its interval. `spent` is the cost of answers and all judgments.
    `partly_judged` is of the active judge run.
    """

    state: BatchState
    state_label: str
    reason: str
    counts: Counts
    rate: Rate
    score: Score
    spent: Spent
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
    def partly_judged_answers(self) -> int:
        """How many answers lack judgments."""
        return sum(kind.answers for kind in self.partly_judged)

    @property
    def judged_by(self) -> str:
        """The active jury, and the number of other judge runs."""
        current = self.current
        if current is None or not current.jury.get("judges"):
            return "annotators only"
        others = len(self.judge_runs) - 1
        name = current.jury_name or "judges"
        return f"{name} (+{counted(others, 'more judge run')})" if others else name


def figures_of(runs: Sequence[Run], *, of_judges: bool = False) -> dict[int, RunFigures]:
    """Figures of these runs by their id, with overrides or of judges alone; four queries."""
    tallies: dict[int, list[Tally]] = defaultdict(list)
    for tally in tallies_of_runs(runs, of_judges=of_judges):
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
    group = group_of(tallies)
    return RunFigures(
        state=state_of(run, judge_runs),
        state_label=state_label(run, judge_runs),
        reason=run.reason
        or next((judge_run.reason for judge_run in judge_runs if judge_run.reason), ""),
        counts=group,
        rate=group.rate(answers=run.repeats),
        score=score_of(tallies),
        spent=spent_by([run, *judge_runs]),
        judge_runs=judge_runs,
        partly_judged=partly_judged,
    )
