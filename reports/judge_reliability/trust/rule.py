"""Where a judge may be trusted alone, where two are needed, and where a person: one rule. Pure.

Only answers drawn at random and judged blind by people count. On those, what is sure is the lower
bound of how often somebody is right: Wilson's, or the one resampled by issue where it is lower.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from math import ceil
from statistics import NormalDist
from typing import NamedTuple

from evalhub.statistics.interval import Interval
from evalhub.statistics.judge_accuracy import judge_counts
from evalhub.statistics.judge_intervals import judge_intervals
from evalhub.statistics.wilson import wilson_interval
from reports.judge_reliability.accuracy_rule import SEED, Checked, Measured, Sample, measured

LEAST_RIGHT = 0.9
"""Who judges alone, or two that agree, must surely be right so often."""

LEAST_AGREED = 0.5
"""Two that agree more rarely save too little of a person's work."""

ENOUGH = 20
"""With fewer answers nothing is said."""

EVERYTHING = ""
"""The group of all answers."""

Z = NormalDist().inv_cdf(0.975)
JUDGE = "judge-"


class TrustLevel(StrEnum):
    ALONE = "alone"
    TWO = "two"
    HUMAN = "person"
    UNKNOWN = "not known yet"


# What is sure -------------------------------------------------------------------------------------


def significance(right: int, n: int, resampled: Interval | None = None) -> float | None:
    """How often somebody is right at least, at 95 %; None without an answer.

    Args:
        resampled: The interval by issue; None where there is none.
    """
    wilson = wilson_interval(right, n)
    if wilson is None:
        return None
    return min(wilson.low, resampled.low) if resampled else wilson.low


def is_significant(right: int, n: int, resampled: Interval | None = None) -> bool | None:
    """Whether that is often enough; None: too few answers to say."""
    low = significance(right, n, resampled)
    if low is None or n < ENOUGH:
        return None
    return round(low, 9) >= LEAST_RIGHT


def more_needed(right: int, n: int) -> int:
    """So many more answers until something is said, if somebody goes on being right as often.

    Wilson's lower bound reaches p0 at n = z² p0 (1 - p0) / (p - p0)². One who is not right often
    enough to ever reach it needs as many as allow to say that.
    """
    wanted = ENOUGH
    if n and right / n > LEAST_RIGHT:
        spare = right / n - LEAST_RIGHT
        wanted = max(ENOUGH, ceil(Z**2 * LEAST_RIGHT * (1 - LEAST_RIGHT) / spare**2 - 1e-9))
    return max(0, wanted - n)


# Lines --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """One judge or jury in one group. `trust` is ALONE, PERSON (not alone) or UNKNOWN.

    `more`: answers drawn at random that are still needed to say something, or to say better.
    """

    sample: Sample
    found: Measured
    trust: TrustLevel
    more: int

    @property
    def right(self) -> int:
        return self.found.counts.true_pass + self.found.counts.true_fail

    @property
    def low(self) -> float:
        return significance(self.right, self.found.n, self.found.intervals.accuracy) or 0.0


class Pair(NamedTuple):
    """Two judges in one group: on `both` answers they gave a verdict, on `agreed` the same one.

    `right` of those were what people said. `interval` is resampled by issue.
    """

    first: str
    second: str
    both: int
    agreed: int
    right: int
    interval: Interval | None

    @property
    def is_enough(self) -> bool:
        often = self.both > 0 and round(self.agreed / self.both, 9) >= LEAST_AGREED
        return often and is_significant(self.right, self.agreed, self.interval) is True

    @property
    def left_to_annotators(self) -> float:
        """The share of answers on which they differ."""
        return 1 - self.agreed / self.both


@dataclass(frozen=True)
class TrustEntry:
    """One group of answers and what it comes to.

    `who` are the party or the parties that are named: whom to trust, or the one that is known
    best. `drawn` answers were drawn at random and decided by people.
    """

    group: str
    trust: TrustLevel
    who: tuple[str, ...]
    left_to_annotators: float | None
    drawn: int
    more: int
    lines: tuple[Line, ...]
    pairs: tuple[Pair, ...]


def sheet(rows: Iterable[Checked], groups: Mapping[int, Collection[str]]) -> list[TrustEntry]:
    """All answers together, and then each group, the one with most answers at random first.

    Args:
        groups: Those that each result belongs to.
    """
    by_group: dict[str, list[Checked]] = defaultdict(list)
    for row in rows:
        for group in (EVERYTHING, *groups.get(row.result, ())):
            by_group[group].append(row)
    entries = [entry_of(group, mine) for group, mine in by_group.items()]
    return sorted(entries, key=lambda e: (e.group != EVERYTHING, -e.drawn, e.group))


def entry_of(group: str, rows: Sequence[Checked]) -> TrustEntry:
    """The rule, on the answers of one group."""
    lines, pairs = _lines(rows), _pairs(rows)
    drawn = len({row.result for row in rows if row.drawn is not None})

    def said(trust: TrustLevel, *who: str, left: float | None = None, more: int = 0) -> TrustEntry:
        return TrustEntry(group, trust, who, left, drawn, more, tuple(lines), tuple(pairs))

    alone = [line for line in lines if line.trust is TrustLevel.ALONE]
    if alone:
        best = max(alone, key=lambda line: line.low)
        return said(TrustLevel.ALONE, best.found.party, left=0.0)
    enough = [pair for pair in pairs if pair.is_enough]
    if enough:
        two = min(enough, key=lambda pair: (pair.left_to_annotators, pair.first, pair.second))
        return said(TrustLevel.TWO, two.first, two.second, left=two.left_to_annotators)
    known = [line for line in lines if line.trust is TrustLevel.HUMAN]
    if known:
        best = max(known, key=lambda line: line.low)
        return said(TrustLevel.HUMAN, best.found.party, left=1.0, more=best.more)
    at_random = [line for line in lines if line.sample is Sample.DRAWN]
    if not at_random:
        return said(TrustLevel.UNKNOWN, more=ENOUGH)
    nearest = min(at_random, key=lambda line: (line.more, -line.low, line.found.party))
    return said(TrustLevel.UNKNOWN, nearest.found.party, more=nearest.more)


def _lines(rows: Sequence[Checked]) -> list[Line]:
    """Each party on the random sample; where it was not met there, on all that people judged."""
    drawn = measured(rows, Sample.DRAWN)
    met = {found.party for found in drawn}
    others = [found for found in measured(rows, Sample.ALL) if found.party not in met]
    selected = [Line(Sample.ALL, found, TrustLevel.UNKNOWN, ENOUGH) for found in others]
    return [*(_line(found) for found in drawn), *selected]


def _line(found: Measured) -> Line:
    right = found.counts.true_pass + found.counts.true_fail
    may = is_significant(right, found.n, found.intervals.accuracy)
    trust = TrustLevel.UNKNOWN if may is None else TrustLevel.ALONE if may else TrustLevel.HUMAN
    return Line(Sample.DRAWN, found, trust, 0 if may else more_needed(right, found.n))


# Two together -------------------------------------------------------------------------------------


def _pairs(rows: Iterable[Checked]) -> list[Pair]:
    """Each two judges that gave verdicts on the same answers of the random sample."""
    said: dict[int, dict[str, Checked]] = defaultdict(dict)
    for row in rows:
        if row.party.startswith(JUDGE) and row.counts_in(Sample.DRAWN):
            said[row.result][row.party] = row
    both: dict[tuple[str, str], list[tuple[Checked, Checked]]] = defaultdict(list)
    for verdicts in said.values():
        for first, second in combinations(sorted(verdicts), 2):
            both[first, second].append((verdicts[first], verdicts[second]))
    return [_pair(names, found) for names, found in sorted(both.items())]


def _pair(names: tuple[str, str], found: Sequence[tuple[Checked, Checked]]) -> Pair:
    agreed = [one for one, other in found if one.said == other.said]
    by_issue: dict[int, list[Checked]] = defaultdict(list)
    for row in agreed:
        by_issue[row.issue].append(row)
    counts = [
        judge_counts([r.said for r in mine], [r.drawn for r in mine])
        for _, mine in sorted(by_issue.items())
    ]
    right = sum(row.said == row.drawn for row in agreed)
    interval = judge_intervals(counts, seed=SEED).accuracy
    return Pair(*names, len(found), len(agreed), right, interval)
