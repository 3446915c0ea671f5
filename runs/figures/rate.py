"""The one form of a pass rate, with its interval. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.rate_interval import IssueSums, Method, interval_of_sums
from runs.comparison.completeness import is_enough, scored_words


@dataclass(frozen=True)
class Rate:
    """The share of scored results that passed, with its 95% interval.

    Attributes:
        passed: How many passed.
        n: How many were scored: passed or failed. Each counts once, whatever its weight.
        share: passed / n, in [0, 1]; None where n is 0.
        interval: None where nothing can be said of the spread, or it is still to be computed.
        method: Of the interval; `Method.NONE` where there is none.
        total: All results, scored or not, that the rate is of; None where it is of other things.
    """

    passed: int
    n: int
    share: float | None
    interval: Interval | None = None
    method: Method = Method.NONE
    total: int | None = None

    @property
    def scored_words(self) -> str:
        """The scored results of all, such as "16/20 scored"; "" where it is of other things."""
        return "" if self.total is None else scored_words(self.n, self.total)

    @property
    def is_enough(self) -> bool:
        """False where too few of the results are scored to conclude anything."""
        return self.total is None or is_enough(self.n, self.total)

    @property
    def accounts_for_issues(self) -> bool:
        return self.method not in (Method.BY_TEST, Method.BY_CLAIM)


def rate_of_issues(
    issues: Iterable[tuple[int, int]], *, answers: int, total: int | None = None
) -> Rate:
    """Return the pass rate of (passed, scored) of each issue, as `rate_of_sums` does."""
    return rate_of_sums(IssueSums.of(issues), answers=answers, total=total)


def rate_of_sums(sums: IssueSums, *, answers: int, total: int | None = None) -> Rate:
    """Return a pass rate with its interval; every pass rate of the site is made here.

    Args:
        answers: Answers to each test, by repeats and pooled runs: they are no further tests.
        total: All results, scored or not; None where only scored ones are looked at.
    """
    passed, n = int(sums.passed), sums.scored
    if not n:
        return Rate(0, 0, None, total=total)
    return Rate(passed, n, passed / n, *interval_of_sums(sums, answers=answers), total)
