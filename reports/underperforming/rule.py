"""Issues with a pass rate significantly below that of the other issues of their run. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalhub.statistics.changes.change_test import is_significant
from evalhub.statistics.changes.group_permutation import DRAWS, GroupPermutation
from evalhub.statistics.changes.holm import holm
from evalhub.statistics.rates.hypergeometric import few_drawn

LAST = 3
"""An issue that never passed in this many runs is named as such, however few its tests."""

SEED = 1
_DRAWS_FOR_EACH = 100
"""Permutations per issue corrected for: fewer could make none of many issues significant."""

EXACT = "the hypergeometric test"
PERMUTED = "a permutation test"


class Counted(NamedTuple):
    """The results of a test: `passed` of `scored` repeats, at least one.

    With one answer per test: all tests of an issue together.
    """

    passed: int
    scored: int


class Before(NamedTuple):
    """The results of an issue in one of the last runs that scored it."""

    run: int
    passed: int
    scored: int


@dataclass(frozen=True)
class IssueComparison:
    """An issue compared with the other issues of its run.

    Attributes:
        tests: Scored tests of the issue.
        others: Pass rate of the other issues' answers, in [0, 1]; None without other issues.
        p: One-sided: the share of random choices of as many tests of the run that pass as rarely;
            None if nothing was scored. `holm` is corrected for all issues of the run.
        last: The last runs that scored it, newest first, if it never passed in this run.
    """

    issue: int
    passed: int
    scored: int
    tests: int
    others: float | None
    p: float | None
    holm: float | None
    last: tuple[Before, ...] = ()

    @property
    def is_below(self) -> bool:
        """Its tests pass significantly more rarely than the others, after Holm's correction."""
        return is_significant(self.holm)

    @property
    def never_passed(self) -> bool:
        """It passed in none of the last 3 runs: a fact, and no test."""
        return len(self.last) >= LAST and not any(one.passed for one in self.last[:LAST])


@dataclass(frozen=True)
class IssueComparisons:
    """All issues of a run, most significant first.

    `rule` names the test behind each p; `rate` is the run's, None if nothing was scored.
    """

    rate: float | None
    rule: str
    issues: tuple[IssueComparison, ...]

    @property
    def below(self) -> tuple[IssueComparison, ...]:
        return tuple(one for one in self.issues if one.is_below)

    @property
    def never_passed(self) -> tuple[IssueComparison, ...]:
        """Those that are not significantly below, so that no issue is named twice."""
        return tuple(one for one in self.issues if one.never_passed and not one.is_below)


def issue_comparisons(
    issues: Mapping[int, Sequence[Counted]], last: Mapping[int, Sequence[Before]], *, single: bool
) -> IssueComparisons:
    """Compare each issue of a run with random choices of as many tests of the whole run.

    Permuting tests between issues assumes no distribution: a run that fails nearly everything
    names no issue for that alone.

    Args:
        issues: The scored tests of each issue; where `single`, they may be counted together.
        last: The newest runs that scored it, at least of the issues that never passed here.
        single: The run has one answer per test: the permutations are counted (hypergeometric).
            Otherwise they are drawn, each test with the share of its repeats that passed.
    """
    passed = {issue: sum(test.passed for test in tests) for issue, tests in issues.items()}
    scored = {issue: sum(test.scored for test in tests) for issue, tests in issues.items()}
    all_passed, all_scored = sum(passed.values()), sum(scored.values())
    rule = EXACT if single else PERMUTED
    if not all_scored:
        return IssueComparisons(None, rule, ())
    p_values = (
        [few_drawn(passed[one], scored[one], all_passed, all_scored) for one in issues]
        if single
        else _permuted(issues)
    )
    found = [
        IssueComparison(
            issue=issue,
            passed=passed[issue],
            scored=scored[issue],
            tests=scored[issue] if single else len(tests),
            others=_rate(all_passed - passed[issue], all_scored - scored[issue]),
            p=p,
            holm=corrected,
            last=tuple(last.get(issue, ())),
        )
        for (issue, tests), p, corrected in zip(
            issues.items(), p_values, holm(p_values), strict=True
        )
    ]
    ordered = tuple(sorted(found, key=_most_significant_first))
    return IssueComparisons(all_passed / all_scored, rule, ordered)


def _permuted(issues: Mapping[int, Sequence[Counted]]) -> list[float | None]:
    shares = {
        issue: [test.passed / test.scored for test in tests] for issue, tests in issues.items()
    }
    permutation = GroupPermutation(
        [share for some in shares.values() for share in some],
        draws=max(DRAWS, _DRAWS_FOR_EACH * len(issues)),
        seed=SEED,
    )
    return [permutation.p_of(some) for some in shares.values()]


def _rate(passed: int, scored: int) -> float | None:
    return passed / scored if scored else None


def _most_significant_first(one: IssueComparison) -> tuple[bool, float, float, float, int]:
    share = one.passed / one.scored if one.scored else 1.0
    return one.holm is None, one.holm or 0.0, one.p or 0.0, share, one.issue
