"""The pairs of answers of compared runs, with what judges and people said of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from runs.comparison.completeness import is_enough
from runs.laboratory.pairwise.models import PairwiseJudgeRun
from runs.laboratory.pairwise.outcomes import PairRow, judge_runs_over, pair_rows
from runs.laboratory.pairwise.pairs import comparable_pairs
from runs.models import Run


class Unscored(NamedTuple):
    """Pairs without an outcome that counts. `missing`: not judged yet, nor by anybody."""

    failed: int
    disputed: int
    missing: int


@dataclass(frozen=True)
class PairwiseField:
    """The pairs of some runs.

    Attributes:
        judge_run: The judge run whose method counts; None: human verdicts only.
        rows: Pairs that were judged or evaluated.
        comparable: All pairs of answers to the same input.
    """

    runs: Sequence[Run]
    judge_run: PairwiseJudgeRun | None
    rows: list[PairRow]
    comparable: int

    @cached_property
    def scored(self) -> list[PairRow]:
        return [row for row in self.rows if row.outcome.score is not None]

    @property
    def is_enough(self) -> bool:
        """Enough of all comparable pairs have an outcome to conclude anything."""
        return is_enough(len(self.scored), self.comparable)

    @property
    def unscored(self) -> Unscored:
        open_rows = [row.outcome for row in self.rows if row.outcome.score is None]
        disputed = sum(one.is_disputed and not one.has_own_criterion for one in open_rows)
        failed = sum(one.is_failed for one in open_rows) - sum(
            one.is_failed and one.is_disputed and not one.has_own_criterion for one in open_rows
        )
        return Unscored(failed, disputed, self.comparable - len(self.scored) - disputed - failed)


def pairwise_field(runs: Sequence[Run], chosen: PairwiseJudgeRun | None) -> PairwiseField:
    """Read the pairs of these runs.

    Args:
        chosen: None takes the newest judge run over two or more of them.
    """
    ids = [run.pk for run in runs]
    known = judge_runs_over(ids)
    judge_run = chosen if chosen in known else next(iter(known), None)
    return PairwiseField(runs, judge_run, pair_rows(ids, judge_run), len(comparable_pairs(runs)))
