"""Drift: a changed score in one release on the same tests with the same variant and jury. Pure.

A series has two or more runs at temperature 0 or unset, in suites without the tag "test". It is
monitored if they span at least 23 hours and all have a score. Its scores are far apart if the
highest is at least 0.05, and 10 %, above the lowest. The thresholds are rules of thumb: the model
drifted, in a direction, only where the difference of these two runs is significant: a corrected p
of at most 0.05 (`LEVEL` of `evalhub.statistics.changes.net_change`).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

from evalhub.statistics.changes.holm import holm
from evalhub.statistics.changes.net_change import is_significant, net_change

MIN_SPAN = timedelta(hours=23)
MIN_CHANGE = 0.05
MIN_RELATIVE = 0.1
DIGITS = 9
"""Scores, which databases add up in any order, and their differences are rounded to this many
digits before they are compared."""


METHOD = (
    "mid-p sign flips of the weighted score differences, by test and from 5 issues on also by "
    "issue (the larger p), corrected for every pair of runs of the series and for all series "
    "monitored (Holm). Below 5 issues it does not account for tests that fail together."
)


class ScoreChange(NamedTuple):
    """The change of one test's mean score from the lowest to the highest run of a series."""

    issue: int
    weight: float
    change: float


class Significance(NamedTuple):
    """The test of a series. `p` is corrected; None if no test has a score in both runs."""

    p: float | None
    tests: int
    rule: str

    @property
    def is_significant(self) -> bool:
        return is_significant(self.p)


NOT_TESTED = Significance(None, 0, "")


class Observed(NamedTuple):
    """A conclusive run.

    Attributes:
        run: Its ID.
        line: Hashable, and equal for comparable runs (`reports.drift.query.Line`); its
            `asked_alike` is equal for runs that differ in judges or scoring only.
        at: Its start.
        score: In [0, 1]; None: no result has a score.
        temperature: As sent; None: unset.
        is_tried_out: Its suite has the tag "test".
    """

    run: int
    line: Any
    at: datetime
    score: float | None
    temperature: Any = None
    is_tried_out: bool = False


class State(StrEnum):
    """The state of a series; those far apart or steady are monitored."""

    FAR = "far apart"
    STEADY = "steady"
    TOO_SHORT = "too short"
    NO_SCORE = "with an unscored run"


@dataclass(frozen=True)
class Series:
    """The runs of a line, oldest first, by ID where they began at once; at least two."""

    line: Any
    runs: tuple[Observed, ...]

    @property
    def span(self) -> timedelta:
        return self.runs[-1].at - self.runs[0].at

    @cached_property
    def state(self) -> State:
        if self.span < MIN_SPAN:
            return State.TOO_SHORT
        if any(run.score is None for run in self.runs):
            return State.NO_SCORE
        is_far = self.change >= MIN_CHANGE and self.relative >= MIN_RELATIVE
        return State.FAR if is_far else State.STEADY

    @property
    def is_monitored(self) -> bool:
        return self.state in (State.FAR, State.STEADY)

    @property
    def low(self) -> Observed:
        """The run with the lowest score, the first of equals."""
        return self.runs[min(self._scores)[1]]

    @property
    def high(self) -> Observed:
        """The run with the highest score, the first of equals."""
        return self.runs[max(self._scores, key=lambda scored: (scored[0], -scored[1]))[1]]

    @property
    def extremes(self) -> tuple[Observed, Observed]:
        """The lowest and the highest run, the earlier one first."""
        return (self.low, self.high) if self.is_better else (self.high, self.low)

    @cached_property
    def change(self) -> float:
        """Highest minus lowest score, in [0, 1], to 1e-9; 0 without scores."""
        scores = [score for score, _ in self._scores]
        return round(max(scores) - min(scores), DIGITS) if scores else 0.0

    @property
    def relative(self) -> float:
        """The change as a share of the lowest score, to 1e-9; infinite if that is 0."""
        if not self.change:
            return 0.0
        low, _ = min(self._scores)
        return round(self.change / low, DIGITS) if low else inf

    @property
    def is_better(self) -> bool:
        """Return whether the highest score came after the lowest."""
        return self.runs.index(self.high) > self.runs.index(self.low)

    @cached_property
    def _scores(self) -> list[tuple[float, int]]:
        """Each score with the index of its run, to 1e-9."""
        scores = enumerate(run.score for run in self.runs)
        return [(round(score, DIGITS), place) for place, score in scores if score is not None]


@dataclass(frozen=True)
class Watch:
    """All series, and the numbers of runs that are in none.

    Attributes:
        series: Lines with at least two runs; those far apart first, largest change first.
        tried_out: Runs of suites with the tag "test".
        warm: Runs at temperatures above 0.
        single: Runs that are alone on their line.
        replaced: The newest run of a line (older), and that of the line that replaced it (newest):
            same tests and variant, scored in another way.
    """

    series: tuple[Series, ...]
    tried_out: int = 0
    warm: int = 0
    single: int = 0
    replaced: tuple[tuple[Observed, Observed], ...] = ()

    @property
    def far(self) -> tuple[Series, ...]:
        return tuple(series for series in self.series if series.state == State.FAR)

    @property
    def monitored(self) -> int:
        """The number of series that could be tested; Holm corrects over all of them."""
        return sum(series.is_monitored for series in self.series)


def watch(observed: Iterable[Observed]) -> Watch:
    """Return the series of these runs, in any order."""
    runs = list(observed)
    real = [run for run in runs if not run.is_tried_out]
    # Temperatures are JSON: a list of them, or a text, is not 0.
    settled = [run for run in real if run.temperature is None or run.temperature == 0]
    lines: dict[Any, list[Observed]] = defaultdict(list)
    for run in sorted(settled, key=lambda run: (run.at, run.run)):
        lines[run.line].append(run)
    series = [Series(line, tuple(members)) for line, members in lines.items() if len(members) > 1]
    return Watch(
        series=tuple(
            sorted(
                series,
                key=lambda one: (
                    one.state != State.FAR,
                    -one.change,
                    -one.relative,
                    -one.runs[-1].run,
                ),
            )
        ),
        tried_out=len(runs) - len(real),
        warm=len(real) - len(settled),
        single=len(lines) - len(series),
        replaced=_replaced(runs_of_line[-1] for runs_of_line in lines.values()),
    )


def _replaced(newest: Iterable[Observed]) -> tuple[tuple[Observed, Observed], ...]:
    """Return the last two of these runs, the newest of each line, that differ in scoring only."""
    alike: dict[Any, list[Observed]] = defaultdict(list)
    for run in sorted(newest, key=lambda run: (run.at, run.run)):
        alike[getattr(run.line, "asked_alike", run.line)].append(run)
    return tuple((runs[-2], runs[-1]) for runs in alike.values() if len(runs) > 1)


def rule_in_words() -> str:
    """Return the rule in words."""
    return (
        "A series has two or more runs of the same release, tests, model variant, jury and "
        'scoring, at temperature 0 or unset, in suites without the tag "test". It is monitored if '
        "they span at least 23 hours and all have a score. Its lowest and highest run are tested "
        f"if their scores are at least {MIN_CHANGE} and {MIN_RELATIVE:.0%} apart: {METHOD}"
    )


def significances(
    changes: Sequence[tuple[int, Sequence[ScoreChange]]], *, monitored: int
) -> list[Significance]:
    """Test the lowest against the highest run of each series.

    The two are chosen for being furthest apart among all pairs of runs, and the series for it among
    all that are monitored: p is multiplied by the number of pairs (Bonferroni), then corrected over
    all series (Holm), where those not tested count as p = 1.

    Args:
        changes: Of each series, its number of runs and the changes of its tests.
        monitored: Series that could have been tested, at least as many as `changes`.
    """
    found = [_tested(some) for _, some in changes]
    plain = [
        None if one.p is None else min(1.0, one.p * runs * (runs - 1) / 2)
        for one, (runs, _) in zip(found, changes, strict=True)
    ]
    corrected = holm([*plain, *[1.0] * (monitored - len(plain))])
    return [one._replace(p=p) for one, p in zip(found, corrected, strict=False)]


def _tested(changes: Sequence[ScoreChange]) -> Significance:
    most = max((one.weight for one in changes), default=0.0) or 1.0
    weighted = [one.weight / most * one.change for one in changes]
    found = net_change(weighted, [one.issue for one in changes])
    return Significance(found.p, found.tests, found.method) if found else NOT_TESTED
