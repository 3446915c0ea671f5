"""Outcomes of the sample history: the tests that each model passes in each release. Pure.

Every number is drawn with a fixed seed. What is planted:

- `aurora` loses its tests in mathematics, and one in each of twelve other issues, in the last
  release, with the same prompt and parameters: a regression.
- `kelp` loses the issue on dates in the last release and gains as many tests elsewhere: the whole
  is no worse, one issue is.
- `clover` gets a new system prompt in release 1.3 and passes more.
- `wren` lacks answers in release 1.3, which therefore counts nowhere. It never passes a date.
- One issue failed for every model up to release 1.1 and has passed since. One never passes. One was
  resolved after release 1.2 and fails again in the last.
- The first release was judged by another jury. The third judge passes nearly everything.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

RELEASES = ("1.0", "1.1", "1.2", "1.3", "1.4")
LAST = len(RELEASES) - 1
AURORA, KELP, CLOVER, WREN = "aurora", "kelp", "clover", "wren"
FAILING = {AURORA: 0.03, KELP: 0.18, CLOVER: 0.38, WREN: 0.52}
"""The share of tests that each model fails in every release."""

FLIPPING = 0.012
"""The share of results that come out the other way in one release by chance."""

DATES = "dates"
HOPELESS, REPAIRED, REOPENED = "underspecified-list-time", "factual-code", "math-geometry"
REPAIRED_FROM, PROMPTED_FROM, INCOMPLETE = 2, 3, 3
LOST_ANSWERS = 5
NEW_JURY_FROM = 1
LOST_DOMAIN = "math-"

JUDGE_ERRORS = (0.015, 0.015)
"""The shares of verdicts that the first two judges get wrong."""

LENIENT_PASSES = 0.93
"""The share of wrong answers that the third judge passes."""

REVIEWED, REVIEWED_TWICE, REVIEWED_AGAIN = 24, 8, 2
"""Results of a run that annotators get at random: one, a second one too, and the first again."""


class PlannedTest(NamedTuple):
    """A test and its issue, by their keys."""

    key: str
    issue: str


@dataclass(frozen=True)
class Answered:
    """Results of a model in a release, by key of the test.

    Attributes:
        right: Whether the answer is right; None: no answer came.
        votes: Of each judge of the jury, in order; () without an answer.
    """

    right: dict[str, bool | None]
    votes: dict[str, tuple[bool, ...]]


@dataclass(frozen=True)
class Plan:
    """The outcome of every test; the same for the same tests."""

    tests: Sequence[PlannedTest]

    def answered(self, model: str, release: int, *, suite: int = 0) -> Answered:
        """Draw one run. Runs of other suites have chance of their own, and no other story."""
        random = Random(f"{model} {release} {suite}")
        right: dict[str, bool | None] = {}
        for test in self.tests:
            planned = self._planned(model, release, test)
            is_flipped = random.random() < FLIPPING
            free = not self._is_told(model, release, test)
            right[test.key] = planned != (is_flipped and free)
        if (model, release, suite) == (WREN, INCOMPLETE, 0):
            right.update(dict.fromkeys(random.sample(sorted(right), LOST_ANSWERS)))
        votes = {
            key: () if is_right is None else self._votes(random, release, is_right)
            for key, is_right in right.items()
        }
        return Answered(right, votes)

    def _planned(self, model: str, release: int, test: PlannedTest) -> bool:
        """Tell whether the model passes the test but for chance."""
        if (told := self._story(model, release, test)) is not None:
            return told
        is_weak = _share(model, test.key) < FAILING[model]
        if model == CLOVER and release >= PROMPTED_FROM:
            is_weak = _share(model, test.key) < FAILING[model] / 3
        if model == KELP and release == LAST:
            is_weak = _share(model, test.key) < FAILING[model] / 8
        return not is_weak

    def _story(self, model: str, release: int, test: PlannedTest) -> bool | None:
        """Return what a planted story says of the test; None: nothing."""
        if test.issue == HOPELESS:
            return False
        if test.issue == REPAIRED:
            return release >= REPAIRED_FROM
        if test.issue == DATES:
            return not (model == WREN or (model == KELP and release == LAST))
        if model == AURORA and release == LAST and self._is_lost(test):
            return False
        return True if test.issue == REOPENED else None

    def _is_told(self, model: str, release: int, test: PlannedTest) -> bool:
        return self._story(model, release, test) is not None

    def _is_lost(self, test: PlannedTest) -> bool:
        """Tell whether the test regresses: mathematics, and one of each of 12 issues."""
        if test.issue.startswith(LOST_DOMAIN):
            return True
        others = sorted({one.issue for one in self.tests if not one.issue.startswith(LOST_DOMAIN)})
        first = next(one.key for one in self.tests if one.issue == test.issue)
        hit = [issue for issue in others if issue not in (HOPELESS, REPAIRED, DATES)][:12]
        return test.issue in hit and test.key == first

    @staticmethod
    def _votes(random: Random, release: int, is_right: bool) -> tuple[bool, ...]:
        careful = [is_right != (random.random() < error) for error in JUDGE_ERRORS]
        if release < NEW_JURY_FROM:
            return tuple(careful)
        return (*careful, is_right or random.random() < LENIENT_PASSES)


def _share(*names: str) -> float:
    """Return a number in [0, 1) that stands for these names."""
    return Random(" ".join(names)).random()
