"""What invented models achieve and what invented judges make of it: pure, seeded.

Behind each result stands how well it was answered: the model's ability, plus how easy issue and
test are, plus what this model makes of this test, plus chance. It is good above 0. A judge sees
it with an error of its own.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tests.sample_data import vocabulary
from tests.sample_data.plan import DRIFT, DRIFTING, REGRESSING, Plan, PlannedRun

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

JUDGES = 3
BIAS = ((0.1, -0.1, 0.0), (0.1, -0.1, 0.25))
"""Of the judges of the first and of the second jury: above 0 is lenient."""

SPREAD = (0.45, 0.45, 0.7)
FAILING = (0.002, 0.003, 0.015)
"""The share of verdicts that fail, of each judge."""

TIRED = 0.5
"""The share of verdicts that the third judge makes at random in the last release."""

ERRORS = 0.004
GRADES = (-1.5, -0.5, 0.5, 1.5)
STORY = 6.0
"""So far does a planted issue lie from the others that it passes always, or never."""

OUT_OF_ISSUES, OUT_OF_TESTS, OUT_OF_MODELS, OUT_OF_RUNS, OUT_OF_PEOPLE = 1, 2, 3, 4, 5
OUT_OF_ANALYSTS = 6


@dataclass(frozen=True)
class Judged:
    """One run's results, in the order repeat by repeat, test by test.

    Attributes:
        tests: The test of each, shape (n,).
        votes: One column per judge, shape (n, judges); nan where there is no verdict: it failed,
            or there is no answer.
        errors: Which have no answer, shape (n,).
        good: Whether the answer is really good, shape (n,), which people mostly see.
        tokens_in, tokens_out, latency_ms: Shape (n,).
    """

    tests: NDArray[np.int64]
    votes: Floats
    errors: Flags
    good: Flags
    input_tokens: NDArray[np.int64]
    output_tokens: NDArray[np.int64]
    latency_ms: NDArray[np.int64]

    @cached_property
    def answered(self) -> NDArray[np.int64]:
        """How many judges gave a value, shape (n,)."""
        return np.asarray((~np.isnan(self.votes)).sum(axis=1))

    @cached_property
    def scores(self) -> Floats:
        """The mean of the votes, shape (n,); nan where there is none."""
        sums = np.where(np.isnan(self.votes), 0.0, self.votes).sum(axis=1)
        return np.where(self.answered > 0, sums / np.maximum(self.answered, 1), np.nan)


@dataclass(frozen=True)
class SimulatedJury:
    """Judges the runs of a plan. `graded`: which tests have five grades, shape (tests,)."""

    plan: Plan
    graded: Flags

    @cached_property
    def ease(self) -> Floats:
        """Of each test, its issue's included, shape (tests,)."""
        of_issues = self.plan.random(OUT_OF_ISSUES).normal(0, 1, self.plan.issues)
        of_tests = self.plan.random(OUT_OF_TESTS).normal(0, 0.6, self.plan.size.results)
        return np.asarray(of_issues[self.plan.issue_of_test] + of_tests)

    @cached_property
    def _taste(self) -> dict[int, Floats]:
        """What each model makes of each test beyond ability and ease."""
        size = self.plan.size.results
        return {
            model: self.plan.random(OUT_OF_MODELS, model).normal(0, 0.7, size)
            for model in range(len(vocabulary.MODELS))
        }

    def judge(self, run: PlannedRun) -> Judged:
        random = self.plan.random(OUT_OF_RUNS, run.number)
        tests = np.tile(self.plan.tests_of(run.suite), self.plan.repeats_of(run.suite))
        n = len(tests)
        quality = self.quality(run)[tests] + random.normal(0, 0.45, n)
        model = vocabulary.MODELS[run.line.model]
        errors = random.random(n) < ERRORS
        errors[random.integers(n)] = True  # so that even a small run has what a large one has
        votes = self._votes(run, tests, quality, random)
        return Judged(
            tests=tests,
            votes=np.where(errors[:, None], np.nan, votes),
            errors=errors,
            good=quality > 0,
            input_tokens=40 + tests % 60,
            output_tokens=random.lognormal(4.2, 0.5, n).astype(np.int64) + 1,
            latency_ms=(model.latency_ms * random.lognormal(0, 0.4, n)).astype(np.int64) + 1,
        )

    def quality(self, run: PlannedRun) -> Floats:
        """How well this run's model answers each test but for chance, shape (tests,)."""
        quality = self._ability(run) + self.ease + self._taste[run.line.model]
        issues, planted = self.plan.issue_of_test, self.plan.planted
        quality = np.where(issues == planted.hopeless, -STORY, quality)
        repaired = STORY if run.release >= planted.repaired_from else -STORY
        quality = np.where(issues == planted.repaired, repaired, quality)
        if run.line == REGRESSING:
            fate = -STORY if run.release == self.plan.releases - 1 else STORY
            quality = np.where(issues == planted.regressed, fate, quality)
        return quality

    def _ability(self, run: PlannedRun) -> float:
        return run.line.ability - (self.drifted(run.release) if run.line == DRIFTING else 0)

    def drifted(self, release: int) -> float:
        """How much the drifting line has lost by this release: its last ones, under one jury."""
        start, last = self.plan.new_jury_from, self.plan.releases - 1
        return DRIFT * max(0, release - start) / max(1, last - start)

    def _votes(
        self,
        run: PlannedRun,
        tests: NDArray[np.int64],
        quality: Floats,
        random: np.random.Generator,
    ) -> Floats:
        shape = (len(tests), JUDGES)
        seen = quality[:, None] + np.array(BIAS[run.jury]) + random.normal(0, 1, shape) * SPREAD
        if run.jury and run.release == self.plan.releases - 1:
            tired = random.random(len(tests)) < TIRED
            seen[:, -1] = np.where(tired, random.normal(0, 1.5, len(tests)), seen[:, -1])
        grades = np.searchsorted(GRADES, seen) / len(GRADES)
        votes = np.where(self.graded[tests][:, None], grades, (seen > 0).astype(float))
        return np.where(random.random(shape) < FAILING, np.nan, votes)
