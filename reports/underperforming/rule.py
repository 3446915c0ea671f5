"""Issues with a pass rate significantly below that of their run. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from evalhub.statistics.binomial import at_most, upper_bound
from evalhub.statistics.holm import holm
from evalhub.statistics.sign_flip import FLIPS, sign_flip

LEVEL = 0.95
LAST = 3
"""An issue that never passed in this many runs is listed, however few its tests."""

SEED = 1
MAX_BOUNDS = 25
"""Listed issues with a bound, which takes a while to compute; all have a p."""

_HALVINGS = 12
_FLIPS_FOR_EACH = 40
"""Flips per issue corrected for: fewer could make none of many issues significant."""

EXACT = "the exact binomial test"
FLIPPED = "sign flips of tests"


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
    """An issue compared with its run.

    Attributes:
        tests: Scored tests of the issue.
        p: One-sided: the probability of this few passes at the run's rate; None if nothing was
            scored. `holm` is corrected for all issues of the run.
        is_single: Each test was answered once.
        bound: `upper` with repeats, where it was computed.
        last: The last runs that scored it, newest first, if it never passed in this run.
    """

    issue: int
    passed: int
    scored: int
    tests: int
    p: float | None
    holm: float | None
    is_single: bool
    bound: float | None = None
    last: tuple[Before, ...] = ()

    @property
    def upper(self) -> float | None:
        """The 95 % upper bound of its rate, in [0, 1]; None where it was not computed."""
        if not self.is_single:
            return self.bound
        return upper_bound(self.passed, self.scored, level=LEVEL)

    @property
    def is_below(self) -> bool:
        """Its upper bound lies below the run's rate, after Holm's correction."""
        return self.holm is not None and self.holm < 1 - LEVEL

    @property
    def never_passed(self) -> bool:
        """It passed in none of the last 3 runs."""
        return len(self.last) >= LAST and not any(one.passed for one in self.last[:LAST])

    @property
    def is_listed(self) -> bool:
        return self.is_below or self.never_passed


@dataclass(frozen=True)
class IssueComparisons:
    """All issues of a run, listed ones first, most significant first.

    `rule` names the test behind each p; `rate` is the run's, None if nothing was scored.
    """

    rate: float | None
    rule: str
    issues: tuple[IssueComparison, ...]

    @property
    def listed(self) -> tuple[IssueComparison, ...]:
        return tuple(one for one in self.issues if one.is_listed)


def issue_comparisons(
    issues: Mapping[int, Sequence[Counted]], last: Mapping[int, Sequence[Before]], *, single: bool
) -> IssueComparisons:
    """Compare each issue of a run with the whole run.

    Args:
        issues: The scored tests of each issue; where `single`, they may be counted together.
        last: The newest runs that scored it, at least of the issues that never passed here.
        single: The run has one answer per test: exact binomial test. Otherwise sign flips of
            tests, by the share of their repeats that passed.
    """
    rate = _rate([tested for tests in issues.values() for tested in tests])
    rule = EXACT if single else FLIPPED
    if rate is None:
        return IssueComparisons(None, rule, ())
    flips = max(FLIPS, _FLIPS_FOR_EACH * len(issues))
    p_of = _exact_p if single else _flipping(flips)
    p_values = [p_of(tests, rate) for tests in issues.values()]
    found = [
        IssueComparison(
            issue=issue,
            passed=sum(tested.passed for tested in tests),
            scored=scored,
            tests=scored if single else len(tests),
            p=p,
            holm=corrected,
            is_single=single,
            last=tuple(last.get(issue, ())),
        )
        for (issue, tests), p, corrected in zip(
            issues.items(), p_values, holm(p_values), strict=True
        )
        for scored in [sum(tested.scored for tested in tests)]
    ]
    ordered = sorted(found, key=_most_significant_first)
    return IssueComparisons(
        rate, rule, tuple(ordered if single else _bounded(ordered, issues, p_of))
    )


PValue = Callable[[Sequence[Counted], float], float | None]


def _rate(tests: Sequence[Counted]) -> float | None:
    scored = sum(tested.scored for tested in tests)
    return sum(tested.passed for tested in tests) / scored if scored else None


def _exact_p(tests: Sequence[Counted], rate: float) -> float | None:
    scored = sum(tested.scored for tested in tests)
    return at_most(sum(tested.passed for tested in tests), scored, rate) if scored else None


def _flipping(flips: int) -> PValue:
    def flipped_p(tests: Sequence[Counted], rate: float) -> float | None:
        """Return half of the two-sided p if the mean share is below the rate, else 1."""
        away = [tested.passed / tested.scored - rate for tested in tests]
        p = sign_flip(away, seed=SEED, flips=flips)
        if p is None:
            return None
        return p / 2 if sum(away) < 0 else 1.0

    return flipped_p


def _most_significant_first(one: IssueComparison) -> tuple[bool, bool, float, float, int]:
    share = one.passed / one.scored if one.scored else 1.0
    return not one.is_listed, one.holm is None, one.holm or 0.0, share, one.issue


def _bounded(
    ordered: Sequence[IssueComparison], issues: Mapping[int, Sequence[Counted]], p_of: PValue
) -> list[IssueComparison]:
    """Add the upper bounds of the listed issues."""
    most = min(sum(one.is_listed for one in ordered), MAX_BOUNDS)
    bounds = [_crossing(issues[one.issue], p_of) for one in ordered[:most]]
    first = [replace(one, bound=bound) for one, bound in zip(ordered, bounds, strict=False)]
    return [*first, *ordered[most:]]


def _crossing(tests: Sequence[Counted], p_of: PValue) -> float | None:
    """Find by bisection the lowest rate at which these shares are improbable; None: no rate."""
    shares = [tested.passed / tested.scored for tested in tests]
    low, high = sum(shares) / len(shares), 1.0
    if not _is_surprising(p_of(tests, high)):
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _is_surprising(p_of(tests, middle)) else (middle, high)
    return high


def _is_surprising(p: float | None) -> bool:
    return p is not None and p < 1 - LEVEL
