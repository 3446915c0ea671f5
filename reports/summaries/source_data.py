"""Figures, tests and answers of a set of runs for an analyst, before anonymization."""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.summaries.key import Variant


@dataclass(frozen=True)
class Tally:
    """A variant's figures on a group of tests. Errors and unscored results are in no rate.

    `score` is the weighted mean score, in [0, 1]; None: nothing was scored.
    """

    variant: Variant
    passed: int
    scored: int
    score: float | None
    errors: int = 0
    unscored: int = 0

    @property
    def share(self) -> float | None:
        """The pass rate, in [0, 1]; None without scored results."""
        return self.passed / self.scored if self.scored else None


@dataclass(frozen=True)
class Group:
    """A tag and the variants' figures on its tests."""

    title: str
    tallies: Sequence[Tally]


@dataclass(frozen=True)
class VariantAnswer:
    """A variant's answer to one test, over all repeats and runs.

    `text` is one of the answers; "" and a `failure` where there was none. `score` is their mean.
    """

    variant: Variant
    text: str
    score: float | None
    passed: int
    scored: int
    failure: str = ""


@dataclass(frozen=True)
class Case:
    """A test: its prompt, its criteria, and each variant's answer."""

    test: int
    issue: str
    tags: Sequence[str]
    prompt: str
    looked_for: Sequence[str]
    reference: str
    answers: Sequence[VariantAnswer]


@dataclass(frozen=True)
class Overview:
    """The figures over all tests. `tests` counts them, `sealed` those without text."""

    suite: str
    tests: int
    sealed: int
    tallies: Sequence[Tally]
    tags: Sequence[Group] = ()

    def figures(self) -> list[float]:
        """Return every number stated, to check the summary's numbers."""
        groups = [self.tallies, *(group.tallies for group in self.tags)]
        stated = [
            float(number)
            for tallies in groups
            for one in tallies
            for number in (one.passed, one.scored, one.share, one.score, one.errors, one.unscored)
            if number is not None
        ]
        variants = len(self.tallies)
        models = len({tally.variant.model for tally in self.tallies})
        developers = len({tally.variant.developer for tally in self.tallies})
        return [self.tests, variants, models, developers, len(self.tags), *stated]


def figures_of(case: Case) -> list[float]:
    """Return the numbers stated about one test."""
    counts = [float(count) for one in case.answers for count in (one.passed, one.scored)]
    return counts + [one.score for one in case.answers if one.score is not None]
