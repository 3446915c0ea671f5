"""Everything the tab between judges shows: sums, single judgments, agreement with humans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from reports.documents.reading import Reading
from reports.judge_reliability.accuracy_rule import Measured
from reports.judge_reliability.concerns_rule import (
    Concern,
    JudgeRecord,
    Trust,
    concerns_about,
    trust_of,
)
from reports.judge_reliability.judge_line import JudgeLine
from reports.judge_reliability.judges.judgments_query import (
    READ,
    JudgmentStatistics,
    judgment_statistics,
)
from reports.judge_reliability.judges.pairs_rule import Pair, beside_peers, pairs_in
from reports.judge_reliability.judges.position_bias_query import (
    BiasRow,
    PositionBiases,
    bias_rows,
    position_biases,
)
from reports.judge_reliability.judges.totals_query import (
    JuryLine,
    judge_totals,
    jury_lines,
    newest_of_each_jury,
)
from reports.judge_reliability.trust.query import proofs_of_all
from reports.judge_reliability.trust_rule import HumanProof
from reports.queries.human_agreement import (
    Calibration,
    calibration,
    evaluated_runs,
    judge_key,
)
from runs.models import Run, Suite

EVALUATED = 50
"""Newest runs with human evaluations in which judges are compared with humans."""


@dataclass(frozen=True)
class JudgeReport:
    """Judges over the last judge runs; until computed, `judgments` is empty and `humans` None.

    `proofs` are what humans have shown of the judges on all answers, by key.
    """

    lines: Sequence[JuryLine]
    judges: Sequence[JudgeLine]
    judgments: JudgmentStatistics
    humans: Calibration | None
    proofs: Mapping[str, HumanProof]

    @cached_property
    def pairs(self) -> list[Pair]:
        """Judges two by two, in the judge runs whose judgments were read."""
        return pairs_in(self.judgments.pairs, self.judgments.levels)

    @property
    def extent(self) -> str:
        """The judge runs whose judgments were read, in words."""
        if len(self.lines) <= READ:
            n = len(self.lines)
            return f"Based on all {n} judge runs." if n > 1 else "Based on this judge run."
        return f"Based on the newest {READ} of these {len(self.lines)} judge runs."

    @cached_property
    def names(self) -> dict[int, str]:
        return {judge.judge_id: judge.name for judge in self.judges}

    def name_of(self, judge: int) -> str:
        return self.names.get(judge, f"judge {judge}")

    def against_humans(self, judge: JudgeLine) -> Measured | None:
        """Return its figures on answers drawn at random; None where not measured."""
        return self.humans.of_judge(judge.judge_id) if self.humans else None

    def human_proof(self, judge: JudgeLine) -> HumanProof | None:
        return self.proofs.get(judge_key(judge.judge_id))

    def _record(self, judge: JudgeLine) -> JudgeRecord:
        peers = beside_peers(judge.judge_id, self.pairs)
        return judge.record(peers=peers, humans=self.human_proof(judge))

    def concerns(self, judge: JudgeLine) -> tuple[Concern, ...]:
        return concerns_about(self._record(judge))

    def trust(self, judge: JudgeLine) -> Trust:
        return trust_of(self._record(judge))

    @cached_property
    def position(self) -> PositionBiases:
        """Verdicts given in both orders; read where they are shown."""
        return position_biases(self.lines, self.judges)

    @cached_property
    def biases(self) -> list[BiasRow]:
        """Position bias of each judge, what was not measured included."""
        return bias_rows(self.position, self.judges)

    @property
    def unreliable(self) -> int:
        return sum(self.trust(judge) is Trust.UNRELIABLE for judge in self.judges)

    @cached_property
    def juries(self) -> list[JuryLine]:
        return newest_of_each_jury(self.lines)


def judge_report(
    reading: Reading, *, suite: Suite | None, run: Run | None, last: int
) -> JudgeReport:
    """Read the judges of the last judge runs; the number of queries is constant."""
    lines = jury_lines(suite=suite, run=run, last=last)
    evaluated = evaluated_runs(suite=suite, last=EVALUATED)
    humans = calibration(evaluated, reading)
    judges = judge_totals(lines)
    return JudgeReport(
        lines=lines,
        judges=judges,
        judgments=judgment_statistics(lines, reading),
        humans=humans,
        proofs=proofs_of_all(evaluated, humans, reading) or {},
    )
