"""Rates and changes that readings by people anchor, and how judges differ from people. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from evalhub.statistics.arguments import check_level
from evalhub.statistics.interval import Interval
from evalhub.statistics.people.sides import Floats, Integers, Side, shared
from evalhub.statistics.people.strata import Stratified, stratified
from evalhub.statistics.rates.rate_interval import MIN_ISSUES, UNSEEN_CORRELATION
from evalhub.statistics.rates.wilson import wilson_bounds
from evalhub.statistics.student import student_quantile, student_share

LEVEL = 0.05
"""Two-sided level of an anchored figure; at looks it is that of a look."""

_NEAR = 1e-9
_DIGITS = 12

LEAST_READ, LEAST_ISSUES = 25, 10
"""Readings of each run, and issues that they are of, from which on people are heard."""

FAVOURED_POWER = 2.8
"""Standard errors of a shift that is found in 80 %."""


@dataclass(frozen=True)
class Anchored:
    """A figure with its interval.

    Attributes:
        estimate: A rate in [0, 1], or a change in about [-1, 1].
        interval: Of the figure, at this level; of a rate within [0, 1].
        p: Two-sided, that there is no change; None of a rate.
        standard_error: Above 0.
        freedom: Degrees of freedom, 1 or more.
        tuning: Part of the control that the estimate takes in (λ).
        judged: What judges say of all answers.
        variance: Before its lower bound.
        least_variance: The lower bound of each run.
        read: Readings of the run that has fewer.
        issues_read: Issues of them.
        is_enough: People are heard.
        accounts_for_issues: Tests of one issue may depend on each other in any way.
        level: Two-sided, in (0, 1).
    """

    estimate: float
    interval: Interval
    p: float | None
    standard_error: float
    freedom: int
    tuning: float
    judged: float
    variance: float
    least_variance: tuple[float, ...]
    read: int
    issues_read: int
    is_enough: bool
    accounts_for_issues: bool
    level: float

    @property
    def is_sure(self) -> bool:
        """Tell whether a change is one, or a shift says that judges favour a release."""
        return self.p is not None and self.p <= self.level

    @property
    def detectable(self) -> float:
        """The change, or shift, that would have been found in 80 %."""
        return FAVOURED_POWER * self.standard_error

    def among(self, share: float) -> "Anchored":
        """Return a change of some tests as that of all, the others of which cannot differ.

        Args:
            share: Of the tests that it was measured on, in (0, 1].
        """
        low, high = self.interval
        return replace(
            self,
            estimate=share * self.estimate,
            interval=Interval(share * low, share * high),
            standard_error=share * self.standard_error,
            judged=share * self.judged,
            variance=share**2 * self.variance,
            least_variance=tuple(share**2 * one for one in self.least_variance),
        )

    def with_missing(self, share: float) -> "Anchored":
        """Return a change with the tests counted against it that only one side has scored.

        Args:
            share: Of all tests, in [0, 1].
        """
        low, high = self.interval
        bounds = Interval(low * (1 - share) - share, high * (1 - share) + share)
        return replace(self, interval=bounds)


@dataclass(frozen=True)
class _Sum:
    """Runs added up with their signs; columns are of all answers of all of them."""

    sides: Sequence[Side]
    runs: Sequence[Stratified]
    signs: Sequence[int]

    def column(self, name: str) -> Floats:
        found = [s * getattr(run, name) for s, run in zip(self.signs, self.runs, strict=True)]
        return np.concatenate(found)

    def total(self, name: str) -> float:
        return float(
            sum(s * getattr(run, name) for s, run in zip(self.signs, self.runs, strict=True))
        )

    @property
    def tests(self) -> Integers:
        return np.concatenate([side.tests for side in self.sides])

    @property
    def issues(self) -> Integers:
        return np.concatenate([side.issues for side in self.sides])

    @property
    def pull(self) -> Floats:
        return np.concatenate([run.pull for run in self.runs])

    @property
    def spread(self) -> Floats:
        return np.concatenate([run.spread for run in self.runs])

    @property
    def accounts_for_issues(self) -> bool:
        return len(np.unique(self.issues)) >= MIN_ISSUES

    @property
    def clusters(self) -> Integers:
        return self.issues if self.accounts_for_issues else self.tests

    def tuning(self) -> float:
        """Return the part of the control with which the error is smallest, for this very figure."""
        human = _sums(self.column("plain_human") + self.column("read_human"), self.tests)
        control = _sums(self.column("plain_judged") + self.column("read_judged"), self.tests)
        squares = float(control @ control)
        return -float(human @ control) / squares if squares > _NEAR**2 else 0.0

    def freedom(self) -> int:
        """Return one less than the clusters that were read, by weight; at least 1."""
        squares = _sums(self.pull**2, self.clusters)
        return max(1, int(squares.sum() ** 2 / (squares @ squares) + _NEAR) - 1)


def anchored_rate(side: Side, *, level: float = LEVEL) -> Anchored | None:
    """Return the pass rate that people would give to all answers of a run.

    Args:
        level: Two-sided, in (0, 1).

    Returns:
        None if nothing was read. Below `is_enough` it is not to be shown as a conclusion.

    Raises:
        ValueError: The level is not within 0 to 1.
    """
    check_level(level)
    run = stratified(side)
    if run is None:
        return None
    both = _Sum([side], [run], [1])
    found = _estimated(both, both.tuning(), level)
    return replace(found, interval=_wilson(found, side, run), p=None)


def anchored_change(
    first: Side, second: Side, *, same_words: Collection[int] = (), level: float = LEVEL
) -> Anchored | None:
    """Return the change of the pass rate that people would see from the first run to the second.

    Tests that both runs have are compared. What is read may be both answers of a test, which is
    worth most, or others in either run.

    Args:
        same_words: Tests whose two answers are word for word the same: no change.
        level: Two-sided, in (0, 1).

    Returns:
        None if nothing was read on a side, or no test can differ.

    Raises:
        ValueError: The level is not within 0 to 1.
    """
    return _compared(first, second, same_words, level, is_shift=False)


def judge_shift(
    first: Side, second: Side, *, same_words: Collection[int] = (), level: float = LEVEL
) -> Anchored | None:
    """Return by how much judges are kinder to the second run than to the first, for people.

    It is the judged change less the anchored one: with `is_sure` they are judged differently. It
    cannot clear a judge: `detectable` is what would have been found in 80 %.

    Args, returns and raises as `anchored_change`.
    """
    return _compared(first, second, same_words, level, is_shift=True)


def _compared(
    first: Side, second: Side, same_words: Collection[int], level: float, *, is_shift: bool
) -> Anchored | None:
    check_level(level)
    found = shared(first, second, same_words)
    if found is None:
        return None
    *sides, share = found
    runs = [stratified(side) for side in sides]
    read = [run for run in runs if run is not None]
    if len(read) < len(runs):
        return None
    both = _Sum(sides, read, [-1, 1])
    estimated = _estimated(both, both.tuning(), level, is_shift=is_shift)
    return estimated.among(share) if share < 1 else estimated


def _estimated(both: _Sum, tuning: float, level: float, *, is_shift: bool = False) -> Anchored:
    """Return the figure; as a shift judges less people stands in the place of people."""
    human, control = both.total("people"), both.total("control")
    judged = both.total("judged")
    plain, read = both.column("plain_human"), both.column("read_human")
    plain_judged, read_judged = both.column("plain_judged"), both.column("read_judged")
    if is_shift:
        tuning = 1 - tuning
        human = judged - control - human
        plain, read = _of_judged(both, plain, plain_judged, read, read_judged)
    errors = plain + tuning * plain_judged + both.spread * (read + tuning * read_judged)
    sums = _sums(errors, both.clusters)
    variance = len(sums) / max(1, len(sums) - 1) * float(sums @ sums)
    least = tuple(run.least_variance for run in both.runs)
    error = sqrt(max(variance, sum(least)))
    read_n, n_issues, is_enough = _readings(both)
    estimate, freedom = human + tuning * control, both.freedom()
    reach = student_quantile(1 - level, freedom) * error
    return Anchored(
        estimate=estimate,
        interval=Interval(estimate - reach, estimate + reach),
        p=1 - student_share(abs(estimate) / error, freedom),
        standard_error=error,
        freedom=freedom,
        tuning=tuning,
        judged=judged,
        variance=variance,
        least_variance=least,
        read=read_n,
        issues_read=n_issues,
        is_enough=is_enough,
        accounts_for_issues=both.accounts_for_issues,
        level=level,
    )


def _of_judged(
    both: _Sum, plain: Floats, plain_judged: Floats, read: Floats, read_judged: Floats
) -> tuple[Floats, Floats]:
    """Return what answers add to the error of judges' figure of what was read less people's.

    A control is what judges say of all answers less that figure, so that it is the former less it.
    """
    every = [
        sign * side.weights * (side.judged - run.judged)
        for sign, side, run in zip(both.signs, both.sides, both.runs, strict=True)
    ]
    return np.concatenate(every) - plain_judged - plain, -read_judged - read


def _readings(both: _Sum) -> tuple[int, int, bool]:
    """Return readings and issues of the run that has fewer, and whether they are enough."""
    read = min(run.n for run in both.runs)
    n = min(len(np.unique(side.issues[side.is_read])) for side in both.sides)
    every = len(np.unique(both.issues))
    return read, n, read >= LEAST_READ and n >= min(LEAST_ISSUES, every)


def _wilson(found: Anchored, side: Side, run: Stratified) -> Interval:
    """Return Wilson's interval with the number of results that the error is worth.

    Where the error says nothing, or is below its bound, readings alone are worth so much at least.
    """
    rate = min(1.0, max(0.0, round(found.estimate, _DIGITS)))
    spread, least = rate * (1 - rate), run.least_variance
    if spread and found.variance >= least:
        worth = spread / found.variance
    else:
        worth = max(spread / least, _worth_alone(run, side))
    return wilson_bounds(rate, worth, student_quantile(1 - found.level, found.freedom))


def _worth_alone(run: Stratified, side: Side) -> float:
    """Return how many independent results readings alone are, with a correlation in issues."""
    sizes = _sums(side.is_read.astype(np.float64), side.issues)
    effect = 1 + UNSEEN_CORRELATION * (float(sizes @ sizes) / run.n - 1)
    return 1 / (run.n * run.least_variance) / effect


def _sums(values: Floats, of: Integers) -> Floats:
    _, places = np.unique(of, return_inverse=True)
    return np.asarray(np.bincount(places, values), dtype=np.float64)
