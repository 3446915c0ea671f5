"""The evidence that the first model of a list is ahead of each other one. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalhub.statistics.changes.holm import holm
from evalhub.statistics.changes.net_change import net_change
from reports.capabilities.champions_rule import Mean
from reports.leaderboard.pairing_rule import Results, pairs_with_first
from reports.leaderboard.rule import RankedModel

METHOD = "mid-p sign flips, Holm over all pairs of models"

GRADES = 9
"""Between the lowest and the highest grade."""


class AgainstFirst(NamedTuple):
    """A model against the first of its list.

    Attributes:
        shared: Different tests, or suites, that both were scored on.
        p: Two-sided and corrected; None where they share nothing.
    """

    shared: int
    p: float | None


Lists = list[list[AgainstFirst]]
"""Of each list the first model against each other one."""


def by_tests(lists: Sequence[Sequence[RankedModel]], results: Results) -> Lists:
    """Compare on all different tests that both have, each once; models are listed best first."""
    found = [pairs_with_first(models, results) for models in lists]
    return _corrected([[AgainstFirst(one.tests, one.p) for one in pairs] for pairs in found])


def by_grades(lists: Sequence[Sequence[Mean]]) -> Lists:
    """Compare the grades in the suites in which both were graded; models are listed best first."""
    return _corrected(
        [[_graded(models[0].by_suite, one.by_suite) for one in models[1:]] for models in lists]
    )


def _graded(first: Mapping[int, float], other: Mapping[int, float]) -> AgainstFirst:
    shared = sorted(first.keys() & other.keys())
    found = net_change([(first[suite] - other[suite]) / GRADES for suite in shared], shared)
    return AgainstFirst(len(shared), found.p if found else None)


def _corrected(lists: Lists) -> Lists:
    """Correct p for all pairs of models of all lists (Holm).

    The first is chosen for its score: pairs without it count as p = 1.
    """
    plain = [one.p for some in lists for one in some]
    pairs = sum((len(some) + 1) * len(some) // 2 for some in lists)
    corrected = iter(holm([*plain, *[1.0] * (pairs - len(plain))]))
    return [[one._replace(p=next(corrected)) for one in some] for some in lists]
