"""What an analyst is shown of a set of runs, before it is made anonymous."""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.summaries.key import Variant


@dataclass(frozen=True)
class Tally:
    """How one variant did on a group of tests. Errors and unjudged results are in no rate.

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
        """The pass rate, in [0, 1]; None where nothing was decided."""
        return self.passed / self.scored if self.scored else None


@dataclass(frozen=True)
class Group:
    """A tag, and how the variants did on its tests."""

    title: str
    tallies: Sequence[Tally]


@dataclass(frozen=True)
class VariantAnswer:
    """What a variant answered to one test, of all repeats and runs.

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
    """One test: what was asked, what was looked for, and what each variant answered."""

    test: int
    issue: str
    tags: Sequence[str]
    asked: str
    looked_for: Sequence[str]
    reference: str
    said: Sequence[VariantAnswer]


@dataclass(frozen=True)
class Overview:
    """The figures over all tests. `tests` counts them, `sealed` those of which no text is sent."""

    suite: str
    tests: int
    sealed: int
    tallies: Sequence[Tally]
    tags: Sequence[Group] = ()

    def figures(self) -> list[float]:
        """Every number that is stated, for the check of the summary's numbers."""
        groups = [self.tallies, *(group.tallies for group in self.tags)]
        stated = [number for tallies in groups for tally in tallies for number in _numbers(tally)]
        variants = len(self.tallies)
        models = len({tally.variant.model for tally in self.tallies})
        developers = len({tally.variant.developer for tally in self.tallies})
        return [self.tests, variants, models, developers, len(self.tags), *stated]


def _numbers(tally: Tally) -> list[float]:
    found = (tally.passed, tally.scored, tally.share, tally.score, tally.errors, tally.unscored)
    return [float(number) for number in found if number is not None]


def figures_of(case: Case) -> list[float]:
    """The numbers that are stated of one test."""
    counts = [float(count) for said in case.said for count in (said.passed, said.scored)]
    return counts + [said.score for said in case.said if said.score is not None]
