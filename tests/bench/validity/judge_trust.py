"""Trust in judges: how often a judge is trusted that must not be, and one that should be.

The rule: a judge is trusted for a group of answers only if its sensitivity and its specificity are
both shown to be at least 80 %, by answers drawn at random, with issues as clusters and Holm's
method over judges × groups. So of sites whose judges all have one of the two below 80 %, at most
5 % may trust any judge for any group.

The model: answers of each issue are passed by humans at one rate; a judge is right on an answer at
a rate that is Beta-distributed over issues, so that its errors on an issue are correlated. Groups
are disjoint, and all answers together are a group as well.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from evalhub.statistics.judges.judge_accuracy import JudgeCounts
from reports.judge_reliability.trust_rule import Evidence, Proof, decide
from tests.bench.validity import Check
from tests.bench.validity.intervals import rates


class Site(NamedTuple):
    """Judges of equal quality, and groups of issues with as many random answers each.

    `passed` is the share of answers that humans pass.
    """

    judges: int
    groups: int
    issues: int
    answers: int
    sensitivity: float
    specificity: float
    correlation: float
    passed: float = 0.5

    @property
    def words(self) -> str:
        return (
            f"{self.judges} judges × {self.groups} groups of {self.issues} issues × {self.answers} "
            f"answers, sensitivity {self.sensitivity}, specificity {self.specificity}, "
            f"correlation {self.correlation}, humans pass {self.passed:.0%}"
        )


SHAPES = ((1, 1, 5, 20), (1, 1, 10, 20), (3, 4, 10, 20), (3, 4, 20, 10), (5, 8, 10, 10))
QUALITIES = ((0.97, 0.79), (0.79, 0.97), (0.79, 0.79))
CORRELATIONS = (0.0, 0.3, 0.5)

ALWAYS_PASSES = Site(3, 4, 20, 25, 1.0, 0.0, 0.0, passed=0.97)
ONE_ISSUE = Site(1, 1, 1, 80, 1.0, 1.0, 0.0)
FEW_FAILS = Site(1, 1, 40, 5, 1.0, 1.0, 0.0, passed=0.99)
FEW_PASSES = Site(1, 1, 40, 5, 1.0, 1.0, 0.0, passed=0.01)
"""200 answers of which 2 on average are human fails (or passes): 10 are needed, and hardly come."""

GOOD = (
    Site(1, 1, 60, 5, 0.97, 0.97, 0.0),
    Site(1, 1, 60, 5, 0.97, 0.97, 0.1),
    Site(1, 1, 60, 5, 0.97, 0.97, 0.1, passed=0.7),
    Site(4, 5, 60, 5, 0.97, 0.97, 0.1),
    Site(4, 5, 60, 5, 0.97, 0.97, 0.1, passed=0.7),
)
"""300 answers of 60 issues in every group."""


def checks() -> Iterator[Check]:
    for shape in SHAPES:
        for quality in QUALITIES:
            for correlation in CORRELATIONS:
                site = Site(*shape, *quality, correlation)
                name = f"trust: any judge trusted, {site.words}"
                yield Check(name, 0, 0.05, partial(trusted_in_any, site))
    for site, what in (
        (ALWAYS_PASSES, "always passes"),
        (ONE_ISSUE, "one issue only"),
        (FEW_FAILS, "always right, fewer than 10 human fails"),
        (FEW_PASSES, "always right, fewer than 10 human passes"),
    ):
        yield Check(f"trust: any judge trusted, {what}", 0, 0, partial(trusted_in_any, site))
    for site in GOOD:
        least = 0.8 if site.passed == 0.5 else 0.6
        yield Check(f"trust: good judge trusted, {site.words}", least, 1, partial(trusted, site))


def trusted_in_any(site: Site, draws: int) -> float:
    """Return the share of sites in which any judge is trusted for any group."""
    found = _sites(site, max(1, draws // 10))
    return float(np.mean([any(is_trusted) for is_trusted in found]))


def trusted(site: Site, draws: int) -> float:
    """Return the share of judges × groups that are trusted."""
    return float(np.mean([np.mean(is_trusted) for is_trusted in _sites(site, max(1, draws // 50))]))


def _sites(site: Site, draws: int) -> Iterator[list[bool]]:
    rng = np.random.default_rng(round(1000 * sum(site)))
    for _ in range(draws):
        shape = (site.groups, site.issues)
        passes = rng.binomial(site.answers, site.passed, size=shape)
        asked: dict[tuple[int, int], Evidence] = {}
        for judge in range(site.judges):
            counts = _judged(site, passes, rng)
            for group in range(site.groups):
                asked[judge, group] = Evidence.of(counts[group])
            if site.groups > 1:
                asked[judge, -1] = Evidence.of([one for group in counts for one in group])
        yield [found.proof is Proof.SHOWN for found in decide(asked).values()]


def _judged(site: Site, passes: np.ndarray, rng: np.random.Generator) -> list[list[JudgeCounts]]:
    """Return a judge's counts of each group and issue."""
    fails = site.answers - passes
    true_pass, true_fail = (
        rng.binomial(of, rates(site.issues, right, site.correlation, site.groups, rng))
        for of, right in ((passes, site.sensitivity), (fails, site.specificity))
    )
    counts = np.stack([true_pass, fails - true_fail, true_fail, passes - true_pass], axis=2)
    return [[JudgeCounts(*issue) for issue in group] for group in counts.tolist()]
