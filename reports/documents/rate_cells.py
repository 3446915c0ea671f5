"""Shares of counts as cells of a report."""

from evalhub.statistics.interval import Interval
from evalhub.statistics.wilson import wilson_interval
from runs.figures.tallies import Rate


def share_of(part: int, whole: int) -> Rate:
    """Return `part` of `whole` independent things, with Wilson's interval."""
    share = part / whole if whole else None
    return Rate(part, whole, share, wilson_interval(part, whole), is_resampled=False)


def resampled_share(part: int, whole: int, interval: Interval | None) -> Rate:
    """Return the share of things that are not independent, with this interval or none."""
    return Rate(part, whole, part / whole if whole else None, interval, is_resampled=True)


def issue_rate(passed: int, scored: int, *, single: bool) -> Rate:
    """Return the pass rate of an issue.

    Where its answers are not single ones they are no news of each other, and there is no other
    issue to resample with: nothing is then said of the spread.
    """
    return share_of(passed, scored) if single else resampled_share(passed, scored, None)
