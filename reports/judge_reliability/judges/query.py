"""All that a page tells of judges: their sums, their judgments, and how they stand with people."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evalhub.statistics.effective_votes import effective_votes
from reports.documents.reading import Reading
from reports.judge_reliability.accuracy_rule import Measured
from reports.judge_reliability.judges.concerns_rule import Reason, Trust, concerns_about, trust_in
from reports.judge_reliability.judges.judgments_query import (
    READ,
    JudgmentStatistics,
    judgment_statistics,
)
from reports.judge_reliability.judges.pairs_rule import Pair, beside_peers, correlations, pairs_in
from reports.judge_reliability.judges.totals_query import (
    JudgeTotals,
    JuryLine,
    judge_totals,
    jury_lines,
)
from reports.queries.human_agreement import Calibration, calibration, evaluated_runs
from runs.models import Run, Suite

EVALUATED = 50
"""Runs, the newest that people judged answers of, in which judges are measured against people."""


@dataclass(frozen=True)
class JudgeReport:
    """Judges over the last judgings. `look` and `people` are None while they are being computed."""

    lines: Sequence[JuryLine]
    judges: Sequence[JudgeTotals]
    look: JudgmentStatistics | None
    people: Calibration | None

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every two judges that can be compared, in the judgings whose judgments were read."""
        return pairs_in(self.look.pairs, self.look.levels) if self.look else []

    @property
    def extent(self) -> str:
        """From which judgings single judgments were read, in words."""
        if len(self.lines) <= READ:
            n = len(self.lines)
            return f"From all {n} judgings." if n > 1 else "From this one judging."
        return f"From the newest {READ} of these {len(self.lines)} judgings."

    @cached_property
    def names(self) -> dict[int, str]:
        return {judge.judge_id: judge.name for judge in self.judges}

    def against_people(self, judge: JudgeTotals) -> Measured | None:
        """The judge on answers drawn at random; None where it was not measured."""
        return self.people.of_judge(judge.judge_id) if self.people else None

    def reasons(self, judge: JudgeTotals) -> tuple[Reason, ...]:
        """All that speaks against a judge."""
        found = self.against_people(judge)
        known = _known(found) if found else {}
        peers = beside_peers(judge.judge_id, self.pairs)
        return concerns_about(judge.record(peers=peers, **known))

    def trust(self, judge: JudgeTotals) -> Trust:
        return trust_in(self.reasons(judge), is_known=bool(judge.asked))

    @cached_property
    def juries(self) -> list[JuryLine]:
        """The newest judging of each jury that was asked in one way, the newest first."""
        newest: dict[str, JuryLine] = {}
        for line in self.lines:
            newest.setdefault(line.judge_run.jury_fingerprint, line)
        return list(newest.values())

    @cached_property
    def panels(self) -> list[JuryLine]:
        """The newest judging of each set of judges, whatever they were asked, the newest first."""
        newest: dict[frozenset[int], JuryLine] = {}
        for line in self.lines:
            newest.setdefault(frozenset(seat.judge_id for seat in line.seats), line)
        return list(newest.values())

    def votes(self, jury: JuryLine) -> float | None:
        """As how many independent judges its judges count; None where pairs were not measured."""
        judges = [seat.judge_id for seat in jury.seats if not seat.is_backup]
        if len(judges) < 2:
            return None
        return effective_votes(correlations(judges, self.pairs))


def _known(found: Measured) -> dict[str, Any]:
    """What the rule of trust is told of a judge against people."""
    return {
        "kappa": None if found.is_lopsided else found.kappa,
        "kappa_bounds": found.intervals.kappa,
        "checked": found.n,
        "informative": found.is_informative,
        "rarer": found.of_rarer,
    }


def judge_report(
    reading: Reading, *, suite: Suite | None, run: Run | None, last: int
) -> JudgeReport:
    """The judges of the last judgings; the number of queries is constant."""
    lines = jury_lines(suite=suite, run=run, last=last)
    return JudgeReport(
        lines=lines,
        judges=judge_totals(lines),
        look=judgment_statistics(lines, reading),
        people=calibration(evaluated_runs(suite=suite, last=EVALUATED), reading),
    )
