"""Trust in a judge alone, shown by human verdicts: one rule for every page. Pure.

A judge, a jury, or two judges where they agree are trusted on a group of answers if sensitivity and
specificity are both shown to be at least 80 %: the lower bounds of their intervals reach it. They
are unreliable there if the upper bound of one is below. Accuracy does not count: where humans fail
3 % of the answers, a judge that passes everything is right on 97 %.

- Only answers count that were drawn at random and judged blind.
- At least 10 answers that humans passed and 10 that they failed, each of 5 issues or more.
- Intervals are Wilson's by issue, with a correlation within issues of at least 0.3: a judge tends
  to be right, or wrong, on all answers to an issue, and few issues may not show it.
- Holm over everything that is asked together, judges × groups: the level of the intervals is
  1 - 0.05 / m, where m are those that can be decided and are not yet.

`dev.py bench validity trust` measures how often it is wrong.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import Generic, NamedTuple, TypeVar

from evalhub.display.formatting import between, counted, percent
from evalhub.statistics.changes.net_change import LEVEL
from evalhub.statistics.interval import Interval
from evalhub.statistics.judges.judge_accuracy import JudgeCounts
from evalhub.statistics.rates.rate_interval import (
    MIN_ISSUES,
    UNSEEN_CORRELATION,
    effective_results,
    rate_interval,
)
from evalhub.statistics.student import student_quantile

MIN_RATE = 0.8
"""Sensitivity and specificity that must be shown."""

MIN_OF_EACH = 10
"""Answers needed that humans passed, and that they failed."""

METHOD = "Wilson by issue, Holm over {} judges × groups"

K = TypeVar("K", bound=Hashable)


class Proof(StrEnum):
    """A conclusion about a judge from the random sample."""

    SHOWN = "trusted"
    BELOW = "unreliable"
    OPEN = "not shown"
    TOO_FEW = "not enough answers"


class Side(NamedTuple):
    """Answers to which humans gave one verdict, "pass" or "fail": (right, n) of each issue."""

    verdict: str
    issues: tuple[tuple[int, int], ...]

    @property
    def name(self) -> str:
        return "sensitivity" if self.verdict == "pass" else "specificity"

    @property
    def humans(self) -> str:
        """The human verdicts, as "human passes"."""
        return "human passes" if self.verdict == "pass" else "human fails"

    @property
    def right(self) -> int:
        return sum(right for right, _ in self.issues)

    @property
    def n(self) -> int:
        return sum(n for _, n in self.issues)

    @property
    def missing(self) -> tuple[int, int]:
        """Answers and issues that are missing for a conclusion, at least."""
        return max(0, MIN_OF_EACH - self.n), max(0, MIN_ISSUES - len(self.issues))

    @property
    def is_enough(self) -> bool:
        return not any(self.missing)

    def interval(self, level: float) -> Interval:
        """Return its interval; only where it is enough."""
        return rate_interval(
            self.issues, level=level, least_correlation=UNSEEN_CORRELATION
        ).interval

    def words(self, level: float) -> str:
        share = percent(self.right / self.n) if self.n else "unknown"
        bounds = f", {between(self.interval(level))}" if self.is_enough else ""
        n = f"{self.right:,} of {self.n:,} {self.humans} of {counted(len(self.issues), 'issue')}"
        return f"{self.name} {share} ({n}{bounds})"


@dataclass(frozen=True)
class Evidence:
    """Verdicts of a judge on answers drawn at random and judged blind."""

    passes: Side
    fails: Side

    @classmethod
    def of(cls, by_issue: Iterable[JudgeCounts]) -> "Evidence":
        """Return the evidence of these counts, one for each issue."""
        counts = list(by_issue)
        passes = ((one.true_pass, one.true_pass + one.false_fail) for one in counts)
        fails = ((one.true_fail, one.true_fail + one.false_pass) for one in counts)
        return cls(
            Side("pass", tuple(sorted(pair for pair in passes if pair[1]))),
            Side("fail", tuple(sorted(pair for pair in fails if pair[1]))),
        )

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.passes, self.fails

    @property
    def is_enough(self) -> bool:
        return all(side.is_enough for side in self.sides)

    def is_shown(self, level: float) -> bool:
        return all(_at_least(side.interval(level).low) for side in self.sides)

    def is_below(self, level: float) -> bool:
        return not all(_at_least(side.interval(level).high) for side in self.sides)


@dataclass(frozen=True)
class HumanProof:
    """A conclusion with its evidence.

    Attributes:
        level: Of the intervals that decided, in [0, 1).
        asked: Judges × groups that were asked together and have enough answers.
    """

    evidence: Evidence
    proof: Proof
    level: float
    asked: int

    @property
    def low(self) -> float:
        """The lower of the two lower bounds; 0 without enough answers."""
        if not self.evidence.is_enough:
            return 0.0
        return min(side.interval(self.level).low for side in self.evidence.sides)

    @property
    def missing(self) -> tuple[int | None, int | None]:
        """Human passes and fails that are still needed; None: more will not change it."""
        if self.proof in (Proof.SHOWN, Proof.BELOW):
            return (0, 0) if self.proof is Proof.SHOWN else (None, None)
        passes, fails = (self._missing(side) for side in self.evidence.sides)
        return passes, fails

    def _missing(self, side: Side) -> int | None:
        if self.proof is Proof.TOO_FEW:
            return max(side.missing)
        return more_needed(side, self.level)

    @property
    def figures(self) -> str:
        """Both rates with their n, intervals and method, as a sentence."""
        rates = " and ".join(side.words(self.level) for side in self.evidence.sides)
        first = rates[0].upper() + rates[1:]
        if not self.evidence.is_enough:
            return f"{first}."
        level = f"{100 * self.level:.4g}% intervals"
        return f"{first}; {level}: {METHOD.format(f'{self.asked:,}')}."

    @property
    def needed(self) -> str:
        """Sentences on what is still needed to trust the judge alone; "" if it is trusted."""
        return " ".join(self._needed())

    def _needed(self) -> Iterator[str]:
        if self.proof is Proof.TOO_FEW:
            for side in self.evidence.sides:
                yield from _too_few(side)
        elif self.proof is Proof.BELOW:
            low = [
                s.name for s in self.evidence.sides if not _at_least(s.interval(self.level).high)
            ]
            yield f"Its {' and '.join(low)} is significantly below {percent(MIN_RATE)}."
        elif self.proof is Proof.OPEN:
            for side in self.evidence.sides:
                more = more_needed(side, self.level)
                if more is None:
                    yield (
                        f"At this {side.name}, more {side.humans} will not show "
                        f"{percent(MIN_RATE)}."
                    )
                elif more:
                    yield f"About {more:,} more {side.humans} are needed at this {side.name}."


def decide(asked: Mapping[K, Evidence]) -> dict[K, HumanProof]:
    """Decide everything that is asked together, by Holm's step-down method on both questions."""
    enough = {key: one for key, one in asked.items() if one.is_enough}
    shown = _step_down(enough, Evidence.is_shown)
    below = _step_down(enough, Evidence.is_below)
    found = {}
    for key, one in asked.items():
        proof, level = Proof.TOO_FEW, 1 - LEVEL
        if key in enough:
            proof, level = Proof.OPEN, shown.last
        if key in below.held:
            proof, level = Proof.BELOW, below.held[key]
        if key in shown.held:
            proof, level = Proof.SHOWN, shown.held[key]
        found[key] = HumanProof(one, proof, level, len(enough))
    return found


class _Held(NamedTuple, Generic[K]):
    """Levels at which claims were found to hold, and the level at which the rest do not."""

    held: dict[K, float]
    last: float


def _step_down(asked: Mapping[K, Evidence], holds: Callable[[Evidence, float], bool]) -> _Held[K]:
    """Apply Holm's method: a claim holds at 1 - 0.05 / m, with m claims not yet found to hold.

    Source: S. Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    """
    open_ = dict(asked)
    held: dict[K, float] = {}
    while True:
        level = 1 - LEVEL / max(1, len(open_))
        new = [key for key, one in open_.items() if holds(one, level)]
        if not new:
            return _Held(held, level)
        for key in new:
            held[key] = level
            del open_[key]


def more_needed(side: Side, level: float) -> int | None:
    """Return about how many more answers show the rate, if it and the issues' sizes stay.

    The lower bound reaches p0 where n = t² p0 (1 - p0) / (p - p0)², n being effective results.

    Returns:
        None where the rate is not above 80 %.
    """
    above = side.right / side.n - MIN_RATE
    if round(above, 9) <= 0:
        return None
    t = student_quantile(level, len(side.issues) - 1)
    effective = effective_results(side.issues, least_correlation=UNSEEN_CORRELATION)
    wanted = t * t * MIN_RATE * (1 - MIN_RATE) / above**2
    return max(0, ceil(side.n * (wanted / effective - 1) - 1e-9))


def _at_least(bound: float) -> bool:
    return round(bound, 9) >= MIN_RATE


def _too_few(side: Side) -> Iterator[str]:
    answers, issues = side.missing
    if answers == 1:
        yield f"1 more human {side.verdict} is needed."
    elif answers:
        yield f"{answers:,} more {side.humans} are needed."
    elif issues:
        yield (
            f"{side.humans.capitalize()} from {counted(issues, 'more issue')} are needed: all "
            f"{side.n:,} are from {counted(len(side.issues), 'issue')}."
        )


NOTHING = decide({"": Evidence.of(())})[""]
"""The conclusion about a judge without answers that were drawn at random."""
