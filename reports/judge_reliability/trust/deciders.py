"""Deciders by group of answers: one judge, two that agree, or a human. Pure.

Only answers drawn at random and judged blind count. One judge or jury decides alone where the rule
of trust finds it reliable on the group's answers; else two judges that are as accurate when they
agree, and agree on at least half of the answers; else a human.
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
from evalhub.statistics.judge_intervals import judge_intervals
from evalhub.statistics.judge_metrics import SEED, counts_by_issue
from reports.judge_reliability.accuracy_rule import Checked, Measured, Sample, measured
from reports.judge_reliability.trust_rule import (
    MIN_ACCURACY,
    MIN_CHECKED,
    Concern,
    JudgeRecord,
    Trust,
    accuracy_low,
    concerns_about,
    is_accurate,
    trust_in,
)

MIN_AGREED = 0.5
"""Two judges that agree more rarely save too little human work."""

EVERYTHING = ""
"""The group of all answers."""

Z = NormalDist().inv_cdf(0.975)
JUDGE = "judge-"


class Decider(StrEnum):
    ONE = "one judge"
    TWO = "two judges that agree"
    HUMAN = "a human"
    UNKNOWN = "not known yet"


def more_needed(right: int, n: int) -> int:
    """Return how many more answers settle the question, at the same accuracy.

    Wilson's lower bound reaches p0 at n = z² p0 (1 - p0) / (p - p0)². An accuracy that can never
    reach it needs as many as allow to say so.
    """
    needed = MIN_CHECKED
    if n and right / n > MIN_ACCURACY:
        spare = right / n - MIN_ACCURACY
        variance = MIN_ACCURACY * (1 - MIN_ACCURACY)
        needed = max(MIN_CHECKED, ceil(Z**2 * variance / spare**2 - 1e-9))
    return max(0, needed - n)


@dataclass(frozen=True)
class Line:
    """A judge or jury in one group; its trust is UNKNOWN on few or selected answers.

    `more`: answers drawn at random that are still needed for a conclusion, or a better one.
    """

    sample: Sample
    found: Measured
    trust: Trust
    more: int
    concerns: tuple[Concern, ...] = ()

    @property
    def low(self) -> float:
        found = self.found
        return accuracy_low(found.right, found.n, found.intervals.accuracy) or 0.0


class Pair(NamedTuple):
    """Two judges in one group: `both` gave a verdict, `agreed` on it, and were `right`.

    `interval`, of the accuracy where they agree, is resampled by issue.
    """

    first: str
    second: str
    both: int
    agreed: int
    right: int
    interval: Interval | None

    @property
    def is_enough(self) -> bool:
        often = self.both > 0 and round(self.agreed / self.both, 9) >= MIN_AGREED
        return often and is_accurate(self.right, self.agreed, self.interval) is True

    @property
    def left_to_annotators(self) -> float:
        """The share of answers on which they disagree."""
        return 1 - self.agreed / self.both


@dataclass(frozen=True)
class TrustEntry:
    """A group of answers and its decider.

    `parties` are those that decide, or the best known one. `drawn` answers were drawn at random
    and have a human verdict.
    """

    group: str
    decider: Decider
    parties: tuple[str, ...]
    left_to_annotators: float | None
    drawn: int
    more: int
    lines: tuple[Line, ...]
    pairs: tuple[Pair, ...]


def entries_of(rows: Iterable[Checked], groups: Mapping[int, Collection[str]]) -> list[TrustEntry]:
    """Return all answers together, then each group, those with most random answers first.

    Args:
        groups: The groups of each result.
    """
    by_group: dict[str, list[Checked]] = defaultdict(list)
    for row in rows:
        for group in (EVERYTHING, *groups.get(row.result, ())):
            by_group[group].append(row)
    entries = [entry_of(group, mine) for group, mine in by_group.items()]
    return sorted(entries, key=lambda e: (e.group != EVERYTHING, -e.drawn, e.group))


def entry_of(group: str, rows: Sequence[Checked]) -> TrustEntry:
    """Apply the rule to the answers of one group."""
    lines, pairs = _lines(rows), _pairs(rows)
    drawn = len({row.result for row in rows if row.drawn is not None})

    def entry(by: Decider, *who: str, left: float | None = None, more: int = 0) -> TrustEntry:
        return TrustEntry(group, by, who, left, drawn, more, tuple(lines), tuple(pairs))

    alone = [line for line in lines if line.trust is Trust.RELIABLE]
    if alone:
        best = max(alone, key=lambda line: line.low)
        return entry(Decider.ONE, best.found.party, left=0.0)
    enough = [pair for pair in pairs if pair.is_enough]
    if enough:
        two = min(enough, key=lambda pair: (pair.left_to_annotators, pair.first, pair.second))
        return entry(Decider.TWO, two.first, two.second, left=two.left_to_annotators)
    known = [line for line in lines if line.trust is not Trust.UNKNOWN]
    if known:
        best = max(known, key=lambda line: line.low)
        return entry(Decider.HUMAN, best.found.party, left=1.0, more=best.more)
    at_random = [line for line in lines if line.sample is Sample.DRAWN]
    if not at_random:
        return entry(Decider.UNKNOWN, more=MIN_CHECKED)
    nearest = min(at_random, key=lambda line: (line.more, -line.low, line.found.party))
    return entry(Decider.UNKNOWN, nearest.found.party, more=nearest.more)


def _lines(rows: Sequence[Checked]) -> list[Line]:
    """Measure each party on the random sample, or else on all answers with a human verdict."""
    drawn = measured(rows, Sample.DRAWN)
    met = {found.party for found in drawn}
    others = [found for found in measured(rows, Sample.ALL) if found.party not in met]
    selected = [Line(Sample.ALL, found, Trust.UNKNOWN, MIN_CHECKED) for found in others]
    lines = []
    for found in drawn:
        record = JudgeRecord(**found.known)
        concerns = concerns_about(record)
        trust = trust_in(concerns, is_known=False, is_accurate=record.is_accurate)
        more = 0 if record.is_accurate else more_needed(found.right, found.n)
        lines.append(Line(Sample.DRAWN, found, trust, more, concerns))
    return lines + selected


def _pairs(rows: Iterable[Checked]) -> list[Pair]:
    """Compare every two judges on the random answers that both judged."""
    by_result: dict[int, dict[str, Checked]] = defaultdict(dict)
    for row in rows:
        if row.party.startswith(JUDGE) and row.counts_in(Sample.DRAWN):
            by_result[row.result][row.party] = row
    both: dict[tuple[str, str], list[tuple[Checked, Checked]]] = defaultdict(list)
    for verdicts in by_result.values():
        for first, second in combinations(sorted(verdicts), 2):
            both[first, second].append((verdicts[first], verdicts[second]))
    pairs = []
    for names, found in sorted(both.items()):
        agreed = [one for one, other in found if one.judged == other.judged]
        right = sum(row.judged == row.drawn for row in agreed)
        counts = counts_by_issue(row.pair(Sample.DRAWN) for row in agreed)
        interval = judge_intervals(list(counts.values()), seed=SEED).accuracy
        pairs.append(Pair(*names, len(found), len(agreed), right, interval))
    return pairs
