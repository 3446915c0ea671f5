"""The 95 % interval of a pass rate: the one rule that every page, file and answer goes by.

The tests of an issue tend to pass or fail together, so that results are worth less than as many
independent ones. From 5 issues on the interval is Wilson's with the effective number of results,
and with Student's t of one degree of freedom less than issues. Below, issues say too little about
each other: the interval is Wilson's by test, and its method says so.

In simulation (10 tests an issue, Beta-distributed rates of issues, correlation 0 to 0.5) it covers
the true rate in 0.95 to 0.99 of runs at a rate of 0.5, and in 0.90 to 0.98 at 0.1 and 0.9 from 10
issues on; `dev.py bench validity` measures it.

Source: L. Kish (1965), Survey Sampling, section 8.2 (design effect); E. L. Korn, B. I. Graubard
(1998), Survey Methodology 24, 193-201 (effective number and degrees of freedom).
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import fsum
from typing import NamedTuple

from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.wilson import wilson_bounds, wilson_quantile
from evalhub.statistics.student import student_quantile

MIN_ISSUES = 5
"""Issues from which on an interval accounts for them."""

UNSEEN_CORRELATION = 0.3
"""Correlation within issues that is assumed where all results are equal and show none."""


class Method(StrEnum):
    """The method of an interval."""

    BY_ISSUE = "Wilson by issue"
    BY_TEST = "Wilson by test, does not account for issues"
    WILSON = "Wilson"
    BY_IDEA = "Wilson by idea, jackknife"
    BY_CLAIM = "Wilson by claim, does not account for ideas"
    NONE = ""


class RateInterval(NamedTuple):
    interval: Interval
    method: Method


class IssueSums(NamedTuple):
    """Issues added up: all that their interval depends on.

    Attributes:
        issues: How many have a scored result.
        passed, scored: Σ passed and Σ scored over the issues.
        passed_squared, product, scored_squared: Σ passed², Σ passed · scored and Σ scored².
    """

    issues: int
    passed: float
    scored: int
    passed_squared: float
    product: float
    scored_squared: int

    @classmethod
    def of(cls, issues: Iterable[tuple[float, int]]) -> "IssueSums":
        """Add up (passed, scored) of each issue; a result may have passed by half, as a tie."""
        found = [(passed, scored) for passed, scored in issues if scored]
        return cls(
            len(found),
            sum(passed for passed, _ in found),
            sum(scored for _, scored in found),
            sum(passed * passed for passed, _ in found),
            sum(passed * scored for passed, scored in found),
            sum(scored * scored for _, scored in found),
        )


def rate_interval(
    issues: Sequence[tuple[float, int]],
    *,
    answers: int = 1,
    level: float = 0.95,
    least_correlation: float = 0.0,
) -> RateInterval:
    """Return the interval of Σ passed / Σ scored of (passed, scored) of each issue, and its method.

    Args and errors are those of `interval_of_sums`.
    """
    return interval_of_sums(
        IssueSums.of(issues), answers=answers, level=level, least_correlation=least_correlation
    )


def interval_of_sums(
    sums: IssueSums, *, answers: int = 1, level: float = 0.95, least_correlation: float = 0.0
) -> RateInterval:
    """Return the interval of Σ passed / Σ scored, and its method.

    Args:
        sums: With at least one scored result.
        answers: Answers to each test, 1 or more. They are no further tests: below 5 issues they
            count as one. From 5 on issues account for them.
        least_correlation: Correlation within issues that is assumed at least, in [0, 1]; 0 takes
            what the results show. Few issues can show too little by chance.

    Raises:
        ValueError: Nothing is scored, or `level` is not within 0 to 1.
    """
    if not sums.scored:
        raise ValueError("expected at least one scored result, got none")
    share = sums.passed / sums.scored
    if sums.issues < MIN_ISSUES:
        bounds = wilson_bounds(share, sums.scored / answers, wilson_quantile(level))
        return RateInterval(bounds, Method.BY_TEST)
    effective = _effective(sums, least_correlation)
    bounds = wilson_bounds(share, effective, student_quantile(level, sums.issues - 1))
    return RateInterval(bounds, Method.BY_ISSUE)


def effective_results(
    issues: Sequence[tuple[float, int]], *, least_correlation: float = 0.0
) -> float:
    """Return how many independent results are worth as much as those of these issues.

    Args:
        issues: (passed, scored) of 2 or more issues, each with a scored result.
    """
    return _effective(IssueSums.of(issues), least_correlation)


def _effective(sums: IssueSums, least_correlation: float) -> float:
    least = 1 + least_correlation * (_size(sums) - 1) if least_correlation else 0.0
    return sums.scored / max(_design_effect(sums), least)


def mean_interval(issues: Sequence[tuple[float, float]], *, level: float = 0.95) -> Interval | None:
    """Return the interval by issue of a mean score Σ w·s / Σ w, within [0, 1].

    Args:
        issues: (Σ w·s, Σ w) of each issue, shape (g, 2); scores are within [0, 1].

    Returns:
        None below 5 issues, or where all have the same mean (to 1e-9): the spread is unknown.
    """
    weighted = [(total, weight) for total, weight in issues if weight]
    if len(weighted) < MIN_ISSUES:
        return None
    weight = fsum(w for _, w in weighted)
    mean = fsum(total for total, _ in weighted) / weight
    variance = _variance(weighted, mean, weight)
    if variance < 1e-18 or not 0 < mean < 1:
        return None
    effective = mean * (1 - mean) / variance
    return wilson_bounds(mean, effective, student_quantile(level, len(weighted) - 1))


def _size(sums: IssueSums) -> float:
    """Return the mean over results of how many results their issue has."""
    return sums.scored_squared / sums.scored


def _design_effect(sums: IssueSums) -> float:
    """Return the variance of the rate by issue over that of n independent results.

    That is g / (g - 1) · Σ (xᵢ - p·nᵢ)² / (n·p·(1 - p)) of g issues with xᵢ of nᵢ passed and
    p = x / n, multiplied out, so that whole numbers lose no digit. At least (g - 1) / g: less than
    1 by what Student's t already allows for g issues. Where all results are equal, they show no
    correlation, and one is assumed.
    """
    g, x, n, xx, xn, nn = sums
    if not 0 < x < n:
        return 1 + UNSEEN_CORRELATION * (_size(sums) - 1)
    squares = n * n * xx - 2 * n * x * xn + x * x * nn
    found = g / (g - 1) * (squares / (n * x * (n - x)))
    return max(found, 1 - 1 / g)


def _variance(issues: Sequence[tuple[float, float]], mean: float, weight: float) -> float:
    """Return the cluster-robust variance of the mean: g / (g - 1) · Σ (x - mean·w)² / (Σ w)²."""
    squares = fsum([(total - mean * w) ** 2 for total, w in issues])
    return len(issues) / (len(issues) - 1) * squares / weight**2
