"""Shares of counts as cells of a report."""

from evalhub.statistics.rates.rate_interval import Method
from evalhub.statistics.rates.wilson import wilson_interval
from runs.figures.rate import Rate, rate_of_issues


def share_of(part: int, whole: int) -> Rate:
    """Return `part` of `whole` independent things, with Wilson's interval."""
    if not whole:
        return Rate(part, whole, None)
    return Rate(part, whole, part / whole, wilson_interval(part, whole), Method.WILSON)


def share_without_interval(part: int, whole: int, *, total: int | None = None) -> Rate:
    """Return the share of things that are not independent and whose issues are not known."""
    return Rate(part, whole, part / whole if whole else None, total=total)


def issue_rate(passed: int, scored: int, *, answers: int, total: int) -> Rate:
    """Return the pass rate of a single issue, with as many answers to each test."""
    return rate_of_issues([(passed, scored)], answers=answers, total=total)
