"""Drift: a changed score on the same tests with the same variant, jury and scoring. Pure.

A series has runs at temperature 0 or unset, in suites without the tag "test", over at least 23
hours, all with a score. It drifted if its highest score is at least 0.05, and 10 %, above its
lowest. The thresholds are rules of thumb.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from math import inf
from typing import Any

from reports.documents.topic_names import TEST, topic_key

MIN_SPAN = timedelta(hours=23)
MIN_CHANGE = 0.05
MIN_RELATIVE = 0.1
DIGITS = 9
"""Differences are rounded to this many digits before they meet a threshold."""


@dataclass(frozen=True)
class Observed:
    """A conclusive run.

    Attributes:
        line: Hashable, and equal for comparable runs; its `asked_alike` is equal for runs that
            differ in judges or scoring only.
        at: Its start.
        score: In [0, 1]; None: no result has a score.
        temperature: As sent; None: unset.
        suite_tags: Tags of its suite.
    """

    run: int
    line: Any
    at: datetime
    score: float | None
    temperature: Any = None
    suite_tags: tuple[str, ...] = ()


class State(StrEnum):
    """The state of a series."""

    DRIFTED = "drifted"
    STEADY = "steady"
    TOO_SHORT = "too short"
    NO_SCORE = "with an unscored run"


@dataclass(frozen=True)
class Series:
    """The runs of a line, oldest first; at least two."""

    line: Any
    runs: tuple[Observed, ...]

    @property
    def span(self) -> timedelta:
        return self.runs[-1].at - self.runs[0].at

    @property
    def state(self) -> State:
        if self.span < MIN_SPAN:
            return State.TOO_SHORT
        if any(run.score is None for run in self.runs):
            return State.NO_SCORE
        is_far = self.change >= MIN_CHANGE and self.relative >= MIN_RELATIVE
        return State.DRIFTED if is_far else State.STEADY

    @property
    def low(self) -> Observed:
        """The run with the lowest score, the first of equals."""
        return self.runs[min(self._scores)[1]]

    @property
    def high(self) -> Observed:
        """The run with the highest score, the first of equals."""
        return self.runs[max(self._scores, key=lambda scored: (scored[0], -scored[1]))[1]]

    @property
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
        return self.high.at > self.low.at

    @property
    def _scores(self) -> list[tuple[float, int]]:
        """Each score with the index of its run."""
        return [(run.score, place) for place, run in enumerate(self.runs) if run.score is not None]


@dataclass(frozen=True)
class Watch:
    """The series monitored, and the numbers of runs that are not.

    Attributes:
        series: Lines with at least two runs; drifted ones first, largest change first.
        tried_out: Runs of suites with the tag "test".
        warm: Runs at temperatures above 0.
        single: Lines with one run.
        apart: The newest run of a line, after the newest run of the line that it replaced: same
            tests and variant, scored in another way.
    """

    series: tuple[Series, ...]
    tried_out: int = 0
    warm: int = 0
    single: int = 0
    apart: tuple[tuple[Observed, Observed], ...] = ()

    @property
    def drifted(self) -> tuple[Series, ...]:
        return self.of(State.DRIFTED)

    def of(self, state: State) -> tuple[Series, ...]:
        return tuple(series for series in self.series if series.state == state)


def watch(observed: Iterable[Observed]) -> Watch:
    """Monitor every line for drift."""
    runs = list(observed)
    real = [run for run in runs if TEST not in map(topic_key, run.suite_tags)]
    # A list of temperatures is not 0.
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
                    one.state != State.DRIFTED,
                    -one.change,
                    -one.relative,
                    -one.runs[-1].run,
                ),
            )
        ),
        tried_out=len(runs) - len(real),
        warm=len(real) - len(settled),
        single=len(lines) - len(series),
        apart=_apart(lines.values()),
    )


def _apart(lines: Iterable[list[Observed]]) -> tuple[tuple[Observed, Observed], ...]:
    """Return the newest runs of the last two lines that differ in scoring only."""
    newest: dict[Any, list[Observed]] = defaultdict(list)
    for line in sorted(lines, key=lambda line: (line[-1].at, line[-1].run)):
        newest[getattr(line[-1].line, "asked_alike", line[-1].line)].append(line[-1])
    return tuple((found[-2], found[-1]) for found in newest.values() if len(found) > 1)


def rule_in_words() -> str:
    """Return the rule in words."""
    return (
        "A series has runs of the same tests, model variant, jury and scoring, at temperature 0 or "
        "unset, over at least 23 hours. It drifted if its highest score is at least "
        f"{MIN_CHANGE} and {MIN_RELATIVE:.0%} above its lowest."
    )
