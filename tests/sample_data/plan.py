"""What an invented ledger holds, before any row of it is made: pure, the same for the same seed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tests.sample_data import vocabulary

SPAN_DAYS = 180
TESTS_PER_ISSUE = 25
MOST_LINES, MOST_TOPICS, TOPIC_MODELS = 10, 11, 6
REPEATS = 5
"""Of each test in a suite on one topic, which therefore has a fifth of the tests."""

CHANGED_SHARE = 0.05
"""Of the tests: their text changes a third of the way through."""


@dataclass(frozen=True)
class Size:
    """How much is invented. `results` are those of each run; `until` is when the last run was."""

    runs: int
    results: int
    seed: int
    until: datetime


@dataclass(frozen=True)
class Line:
    """One variant of one model: a line of a trend. `model` is a place in `words.MODELS`."""

    model: int
    system_prompt: str = ""
    temperature: float = 0

    @property
    def ability(self) -> float:
        return vocabulary.MODELS[self.model].ability - 0.2 * self.temperature


@dataclass(frozen=True)
class PlannedRun:
    """One run. `suite` 0 is the main one; `release` counts from 0.

    `jury` and `suite_revision` are 0 before and 1 after the jury, or the text of some tests,
    changed.
    """

    number: int
    suite: int
    line: Line
    release: int
    at: datetime
    jury: int
    suite_revision: int


@dataclass(frozen=True)
class Planted:
    """Issues, by number, that have a story, and the releases at which stories turn.

    `hopeless` passes for nobody. `repaired` fails before `repaired_from` and passes since.
    `regressed` fails for the second model since the last release.
    """

    hopeless: int
    repaired: int
    regressed: int
    repaired_from: int


MAIN_LINES = (
    *(Line(model) for model in range(TOPIC_MODELS)),
    Line(0, temperature=0.7),
    Line(2, system_prompt=vocabulary.SYSTEM_PROMPT),
    Line(6),
    Line(7),
)
DRIFTING, REGRESSING = MAIN_LINES[0], MAIN_LINES[1]
DRIFT = 0.7
"""How much the drifting line loses of its ability, in all."""


@dataclass(frozen=True)
class Plan:
    """All that the rows are made from; tests and issues are numbered from 0."""

    size: Size

    @cached_property
    def issues(self) -> int:
        return max(8, self.size.results // TESTS_PER_ISSUE)

    @cached_property
    def issue_of_test(self) -> NDArray[np.int64]:
        """The issue of each test, shape (tests,); tests of an issue lie side by side."""
        tests = self.size.results
        return np.arange(tests) * self.issues // tests

    @cached_property
    def main_runs(self) -> int:
        return (self.size.runs + 1) // 2

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Those of the main suite: as many as leave each some five runs."""
        return MAIN_LINES[: min(MOST_LINES, max(2, self.main_runs // 5))]

    @cached_property
    def releases(self) -> int:
        return -(-self.main_runs // len(self.lines))

    @cached_property
    def topics(self) -> int:
        """How many suites there are besides the main one."""
        return min(MOST_TOPICS, max(1, self.size.runs // 2 // TOPIC_MODELS))

    @cached_property
    def repeats(self) -> int:
        """How often a suite on a topic asks each test."""
        return REPEATS if self.size.results % REPEATS == 0 else 1

    def tests_of(self, suite: int) -> NDArray[np.int64]:
        """The tests of a suite, in order."""
        tests = self.size.results
        if suite == 0:
            return np.arange(tests)
        start = (suite - 1) * tests // self.topics
        return np.sort((start + np.arange(tests // self.repeats)) % tests)

    def repeats_of(self, suite: int) -> int:
        return self.repeats if suite else 1

    @cached_property
    def changed_tests(self) -> frozenset[int]:
        count = max(1, int(self.size.results * CHANGED_SHARE))
        draw = self.random(0).choice(self.size.results, count, replace=False)
        return frozenset(draw.tolist())

    @cached_property
    def new_revision_from(self) -> int:
        return -(-self.releases // 3)

    @cached_property
    def new_jury_from(self) -> int:
        return -(-2 * self.releases // 3)

    @cached_property
    def planted(self) -> Planted:
        hopeless, repaired, regressed = (self.issues * part // 8 for part in (1, 3, 6))
        return Planted(hopeless, repaired, regressed, repaired_from=max(1, self.releases // 2))

    @cached_property
    def runs(self) -> list[PlannedRun]:
        """In the order of their times."""
        found = sorted([*self._main_runs(), *self._topic_runs()], key=lambda run: run[3])
        return [
            PlannedRun(
                number,
                suite,
                line,
                release,
                at,
                jury=int(release >= self.new_jury_from),
                suite_revision=int(release >= self.new_revision_from),
            )
            for number, (suite, line, release, at) in enumerate(found)
        ]

    def _main_runs(self) -> Iterator[tuple[int, Line, int, datetime]]:
        left_out = self.releases * len(self.lines) - self.main_runs
        for place in range(self.main_runs):
            release, line = divmod(place + left_out, len(self.lines))
            later = timedelta(hours=2 * (len(self.lines) - 1 - line))
            yield 0, self.lines[line], release, self.released_at(release) - later

    def _topic_runs(self) -> Iterator[tuple[int, Line, int, datetime]]:
        count = self.size.runs - self.main_runs
        for place in range(count):
            suite, model = divmod(place, TOPIC_MODELS)
            at = self.size.until - timedelta(
                days=SPAN_DAYS * (count - place) / (count + 1), hours=1
            )
            yield 1 + suite % self.topics, Line(model), self._release_at(at), at

    def released_at(self, release: int) -> datetime:
        step = SPAN_DAYS / max(1, self.releases - 1)
        return self.size.until - timedelta(days=step * (self.releases - 1 - release))

    def _release_at(self, at: datetime) -> int:
        """The newest release there was."""
        return max((r for r in range(self.releases) if self.released_at(r) <= at), default=0)

    def random(self, *part: int) -> np.random.Generator:
        """Chance for one part of the ledger, which the others do not change."""
        return np.random.default_rng([self.size.seed, *part])
