"""The progress of a run; cheap enough to be polled every second."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, Q

from evalhub.models import BatchState, ItemState
from runs.figures.partly_judged import PartlyJudged, partly_judged
from runs.figures.states import current_of, state_of
from runs.figures.tallies import Counts
from runs.lifecycle.control import retryable
from runs.models import RETRYABLE, JudgeRun, Outcome, Result, ResultScore, Run


@dataclass(frozen=True)
class Progress:
    """The progress of a run and its judge run.

    `answered` and `judged` include those that ended in an error; `judged` is of `to_judge`, which
    is 0 without a jury. `state` is that of run and judge runs together (`state_of`).
    `judge_run` is the number of the judge run counted, where that is not the active one.
    `endings` counts the answers that broke off, by how; `partly_judged` those that lack judgments
    of the active judge run.
    """

    state: str
    reason: str
    is_live: bool
    total: int
    answered: int
    judged: int
    to_judge: int
    judge_run: int | None
    counts: Counts
    retryable: int
    endings: dict[str, int]
    partly_judged: Sequence[PartlyJudged]

    @property
    def awaiting(self) -> int:
        """Answers that are not judged yet."""
        return max(0, self.counts.pending - (self.total - self.answered))

    @property
    def lacking(self) -> int:
        """Answers that lack judgments that were expected."""
        return sum(kind.answers for kind in self.partly_judged)

    @property
    def replied(self) -> int:
        """Results with an answer: those answered without an error."""
        return max(0, self.answered - self.counts.error)

    def share(self, n: int) -> float:
        """Return n as a percentage of the results."""
        return 100 * n / self.total if self.total else 0.0

    def as_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "counts": self.counts.as_dict(),
            "awaiting": self.awaiting,
            "partly_judged": [kind._asdict() for kind in self.partly_judged],
        }


@dataclass(frozen=True)
class ScoringProgress:
    """The scored results of a judge run, added up.

    `doubtful` are those that another try may complete; `passed` of those `scored` pass.
    """

    n: int = 0
    done: int = 0
    ended: int = 0
    doubtful: int = 0
    scored: int = 0
    passed: int = 0


def progress_of(
    run: Run,
    judge_runs: Sequence[JudgeRun],
    *,
    counted: tuple[Counts, int, dict[int, ScoringProgress]] | None = None,
) -> Progress:
    """Return the progress of a run with these judge runs; four queries.

    Args:
        counted: Its results, the number of answered ones, and `scoring_progress_of`, if known.
    """
    counts, answered, scored = counted or (*_counted(run), scoring_progress_of(judge_runs))
    current = current_of(judge_runs)
    shown = next((judge_run for judge_run in judge_runs if judge_run.is_live), current)
    judged = scored.get(shown.pk) if shown and shown.jury.get("judges") else None
    doubtful = scored[current.pk].doubtful if current and current.pk in scored else 0
    state = state_of(run, judge_runs)
    return Progress(
        state=state,
        reason=run.reason or (shown.reason if shown else ""),
        is_live=state == BatchState.LIVE,
        total=counts.total,
        answered=answered,
        judged=judged.ended if judged else 0,
        to_judge=judged.n if judged else 0,
        judge_run=shown.number if shown and not shown.is_active else None,
        counts=counts,
        retryable=retryable(run, counts.error, doubtful),
        endings=endings_of(run),
        partly_judged=partly_judged([current.pk])[current.pk] if current else (),
    )


def endings_of(run: Run) -> dict[str, int]:
    """Count the answers of a run that broke off, by how."""
    rows = Result.objects.filter(run=run, state__in=[ItemState.DONE, ItemState.ERROR])
    rows = rows.exclude(ending="").order_by("ending")
    return dict(rows.values_list("ending").annotate(Count("pk")))


def _counted(run: Run) -> tuple[Counts, int]:
    """Return the results by outcome, and how many are answered."""
    rows = Result.objects.filter(run=run).order_by().values_list("outcome", "state")
    counts = dict.fromkeys(Outcome.values, 0)
    answered = 0
    for outcome, state, n in rows.annotate(Count("pk")):
        counts[outcome] += n
        answered += n if state in (ItemState.DONE, ItemState.ERROR) else 0
    return Counts(**counts), answered


def scoring_progress_of(judge_runs: Sequence[JudgeRun]) -> dict[int, ScoringProgress]:
    """Return the progress of judge runs by their id; one query."""
    rows = ResultScore.objects.filter(judge_run__in=judge_runs).order_by()
    sums = rows.values_list("judge_run_id").annotate(
        n=Count("pk"),
        done=Count("pk", filter=Q(state=ItemState.DONE)),
        ended=Count("pk", filter=Q(state__in=[ItemState.DONE, ItemState.ERROR])),
        doubtful=Count("pk", filter=RETRYABLE),
        scored=Count("score"),
        passed=Count("pk", filter=Q(passed=True)),
    )
    return {judge_run: ScoringProgress(*found) for judge_run, *found in sums}
