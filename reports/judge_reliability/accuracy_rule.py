"""Accuracy of a judge: its verdicts compared with human verdicts on the same answers. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from evalhub.statistics.judges.judge_accuracy import JudgeAccuracy, judge_accuracy, judge_counts
from evalhub.statistics.judges.judge_metrics import SEED, JudgeMetrics, VerdictPair, judge_metrics
from evalhub.statistics.judges.rogan_gladen import Calibrated, corrected_interval, corrected_rate
from evalhub.statistics.rates.rate_interval import MIN_ISSUES
from reports.judge_reliability.trust_rule import Evidence

RARE = 0.1
"""With a verdict rarer than this, kappa is low however often two agree."""


FEW_ISSUES = f"No interval: the run or the random sample has fewer than {MIN_ISSUES} issues."


class Sample(StrEnum):
    """Answers on which a judge is measured: those drawn at random and judged blind, or all."""

    DRAWN = "random"
    ALL = "all"


class Checked(NamedTuple):
    """Verdicts on one answer: of a party (a judge, or a jury together) and of humans.

    `judged` None: the party gave none. `humans` None: humans disagree or judged only parts. `drawn`
    is the verdict of those who got the answer at random and blind: None without any, or if they
    disagree. True is passed.
    """

    party: str
    result: int
    run: int
    issue: int
    judged: bool | None
    humans: bool | None
    drawn: bool | None

    def truth(self, sample: Sample) -> bool | None:
        return self.drawn if sample is Sample.DRAWN else self.humans

    def counts_in(self, sample: Sample) -> bool:
        """Return whether both gave a verdict."""
        return self.judged is not None and self.truth(sample) is not None

    def pair(self, sample: Sample) -> VerdictPair:
        return self.issue, self.judged, self.truth(sample)


@dataclass(frozen=True)
class Measured(JudgeMetrics):
    """A party compared with humans on one sample. `rarer`: the share of the rarer human verdict."""

    party: str

    @property
    def evidence(self) -> Evidence:
        return Evidence.of(self.by_issue)

    @property
    def rarer(self) -> float:
        passed = self.counts.true_pass + self.counts.false_fail
        return min(passed, self.n - passed) / self.n

    @property
    def is_lopsided(self) -> bool:
        return round(self.rarer, 9) < RARE


def measured(rows: Iterable[Checked], sample: Sample) -> list[Measured]:
    """Measure each party on this sample, in the order of their first rows."""
    by_party: dict[str, list[VerdictPair]] = defaultdict(list)
    for row in rows:
        if row.counts_in(sample):
            by_party[row.party].append(row.pair(sample))
    return [Measured(**vars(judge_metrics(pairs)), party=key) for key, pairs in by_party.items()]


class Tally(NamedTuple):
    """Answers to one issue's tests that a jury passed and failed in one run."""

    issue: int
    passed: int
    failed: int


class Corrected(NamedTuple):
    """The pass rate that humans would find in a run; `why_not`: why it, or its interval, is none.

    `n` are the answers drawn at random from which the jury's error is estimated.
    """

    share: float | None
    low: float | None
    high: float | None
    n: int
    why_not: str = ""


def corrected(tallies: Sequence[Tally], checked: Iterable[Checked]) -> Corrected:
    """Correct a run's pass rate for its jury's error on a random sample.

    Args:
        tallies: Of the run, by issue.
        checked: Verdicts of this jury and of humans, in any run.
    """
    rows = [row for row in checked if row.counts_in(Sample.DRAWN)]
    found = judge_accuracy(judge_counts([row.judged for row in rows], [row.drawn for row in rows]))
    scored = sum(tally.passed + tally.failed for tally in tallies)
    rate = sum(tally.passed for tally in tallies) / scored if scored else None
    share = corrected_rate(rate, found.sensitivity, found.specificity)
    if share is None:
        return Corrected(None, None, None, found.n, _why_not(rate, found))
    values = [
        (t.issue, value, n) for t in tallies for value, n in ((1.0, t.passed), (0.0, t.failed))
    ]
    interval = corrected_interval(
        [value for _, value, _ in values],
        [n for _, _, n in values],
        [issue for issue, _, _ in values],
        [Calibrated(bool(r.judged), bool(r.drawn), r.issue) for r in rows],
        seed=SEED,
    )
    low, high = interval or (None, None)
    issues = min(
        len({tally.issue for tally in tallies if tally.passed + tally.failed}),
        len({row.issue for row in rows}),
    )
    why_not = FEW_ISSUES if issues < MIN_ISSUES else ""
    return Corrected(share, low, high, found.n, why_not)


def _why_not(rate: float | None, found: JudgeAccuracy) -> str:
    if rate is None:
        return "The jury scored no result of this run."
    if not found.n:
        return "No answer of this jury was drawn at random and judged blind by humans."
    if found.sensitivity is None:
        return f"Humans passed none of the {found.n:,} answers drawn at random."
    if found.specificity is None:
        return f"Humans failed none of the {found.n:,} answers drawn at random."
    failed = round((1 - (found.prevalence or 0)) * found.n)
    return (
        f"On the {found.n:,} answers drawn at random, of which humans failed {failed:,}, this "
        "jury does no better than chance."
    )
