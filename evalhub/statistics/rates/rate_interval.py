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

from collections.abc import Sequence
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


def rate_interval(
    issues: Sequence[tuple[float, int]],
    *,
    answers: int = 1,
    level: float = 0.95,
    least_correlation: float = 0.0,
) -> RateInterval:
    """Return the interval of Σ passed / Σ scored, and its method.

    Args:
        issues: (passed, scored) of each issue, shape (g, 2), with at least one scored result. A
            result may have passed by half, as a tie.
        answers: Answers to each test, 1 or more. They are no further tests: below 5 issues they
            count as one. From 5 on issues account for them.
        least_correlation: Correlation within issues that is assumed at least, in [0, 1]; 0 takes
            what the results show. Few issues can show too little by chance.

    Raises:
        ValueError: Nothing is scored, or `level` is not within 0 to 1.
    """
    scored = [one for one in issues if one[1]]
    if not scored:
        raise ValueError("expected at least one scored result, got none")
    share, total = _share(scored)
    if len(scored) < MIN_ISSUES:
        bounds = wilson_bounds(share, total / answers, wilson_quantile(level))
        return RateInterval(bounds, Method.BY_TEST)
    effective = _effective(scored, share, total, least_correlation)
    bounds = wilson_bounds(share, effective, student_quantile(level, len(scored) - 1))
    return RateInterval(bounds, Method.BY_ISSUE)


def effective_results(
    issues: Sequence[tuple[float, int]], *, least_correlation: float = 0.0
) -> float:
    """Return how many independent results are worth as much as those of these issues.

    Args:
        issues: (passed, scored) of 2 or more issues, each with a scored result.
    """
    return _effective(issues, *_share(issues), least_correlation)


def _effective(
    issues: Sequence[tuple[float, int]], share: float, n: int, least_correlation: float
) -> float:
    least = 1 + least_correlation * (_size(issues, n) - 1) if least_correlation else 0.0
    return n / max(_design_effect(issues, share, n), least)


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


def _share(issues: Sequence[tuple[float, int]]) -> tuple[float, int]:
    """Return Σ passed / Σ scored, and Σ scored."""
    passed, scored = zip(*issues, strict=True)
    n: int = sum(scored)
    return sum(passed) / n, n


def _size(issues: Sequence[tuple[float, int]], n: int) -> float:
    """Return the mean over results of how many results their issue has."""
    return sum(scored**2 for _, scored in issues) / n


def _design_effect(issues: Sequence[tuple[float, int]], share: float, n: int) -> float:
    """Return the variance of the rate by issue over that of n independent results.

    At least (g - 1) / g: less than 1 by what Student's t already allows for g issues. Where all
    results are equal, they show no correlation, and one is assumed.
    """
    if not 0 < share < 1:
        return 1 + UNSEEN_CORRELATION * (_size(issues, n) - 1)
    found = _variance(issues, share, n) / (share * (1 - share) / n)
    return max(found, 1 - 1 / len(issues))


def _variance(issues: Sequence[tuple[float, float]], mean: float, weight: float) -> float:
    """Return the cluster-robust variance of the mean: g / (g - 1) · Σ (x - mean·w)² / (Σ w)²."""
    squares = fsum([(total - mean * w) ** 2 for total, w in issues])
    return len(issues) / (len(issues) - 1) * squares / weight**2
