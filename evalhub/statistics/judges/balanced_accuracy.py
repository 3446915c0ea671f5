"""Balanced accuracy of a judge on claims of known truth, with its interval by idea.

A claim is about one idea, as a true one, or about two, as a false one. Claims that share an idea
depend on each other, and so do the two orders of a pair. Ideas are therefore resampled: each is
left out once with all its claims (jackknife). A claim of two ideas is left out twice, so that its
own part of the variance is taken off once. The variance of a rate gives an effective number of
claims, and that Wilson's interval with Student's t of one degree of freedom less than ideas, which
also holds near 0 and 1.

`dev.py bench validity trial` measures how often it covers.

Source: O. Frank, T. A. B. Snijders (1994), Journal of Official Statistics 10, 53-67 (jackknife of
nodes); P. M. Aronow, C. Samii, V. A. Assenova (2015), Political Analysis 23, 564-577 (variance of
pairs); L. Kish (1965), Survey Sampling, section 8.2 (effective number); G. Y. Zou, A. Donner
(2008), Statistics in Medicine 27, 1693-1702 (interval of a mean of two rates from those of both).
"""

from collections.abc import Hashable, Mapping
from math import hypot
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.arguments import check_level
from evalhub.statistics.interval import Interval
from evalhub.statistics.judges.judge_accuracy import JudgeCounts, judge_accuracy
from evalhub.statistics.rates.rate_interval import MIN_ISSUES, UNSEEN_CORRELATION, Method
from evalhub.statistics.rates.wilson import wilson_bounds, wilson_quantile
from evalhub.statistics.resampling import Floats
from evalhub.statistics.student import student_quantile

Ideas = tuple[Hashable, Hashable]
"""The ideas of a claim's two artifacts; the same one twice where they share it."""


class BalancedAccuracy(NamedTuple):
    """The mean of sensitivity and specificity, in [0, 1]; sensitivity is about true claims."""

    value: float
    interval: Interval
    sensitivity: Interval
    specificity: Interval
    method: Method


def balanced_accuracy(
    counts: Mapping[Ideas, JudgeCounts], *, level: float = 0.95
) -> BalancedAccuracy | None:
    """Return the balanced accuracy and the intervals of it and of both its rates.

    Args:
        counts: The confusion matrix of the claims about each idea or pair of ideas; "pass" is the
            verdict that a claim is true.

    Returns:
        None without a true or without a false claim. Below 5 ideas claims count one by one, and
        the method says so.

    Raises:
        ValueError: `level` is not within 0 to 1.
    """
    check_level(level)
    cells = {ideas: one for ideas, one in counts.items() if sum(one)}
    if not cells:
        return None
    total = JudgeCounts(*(sum(column) for column in zip(*cells.values(), strict=True)))
    accuracy = judge_accuracy(total)
    rates = accuracy.sensitivity, accuracy.specificity
    if rates[0] is None or rates[1] is None:
        return None
    ideas = len({idea for pair in cells for idea in pair})
    by_idea = ideas >= MIN_ISSUES
    true, false = _right_and_all(cells)
    left_out = _left_out(cells, (true, false)) if by_idea else (None, None)
    reach = student_quantile(level, ideas - 1) if by_idea else wilson_quantile(level)
    is_of_two = np.array([first != second for first, second in cells])
    of_true, of_false = (
        wilson_bounds(rate, _effective(rate, side, values, ideas, is_of_two), reach)
        for rate, side, values in zip((rates[0], rates[1]), (true, false), left_out, strict=True)
    )
    value = (rates[0] + rates[1]) / 2
    method = Method.BY_IDEA if by_idea else Method.BY_CLAIM
    interval = _of_mean(rates[0], rates[1], of_true, of_false)
    return BalancedAccuracy(value, interval, of_true, of_false, method)


def _of_mean(first: float, second: float, of_first: Interval, of_second: Interval) -> Interval:
    """Return the interval of the mean of two rates from the intervals of both."""
    mean = (first + second) / 2
    return Interval(
        low=mean - hypot(first - of_first.low, second - of_second.low) / 2,
        high=mean + hypot(of_first.high - first, of_second.high - second) / 2,
    )


def _right_and_all(cells: Mapping[Ideas, JudgeCounts]) -> tuple[Floats, Floats]:
    """Return (right, n) of each cell, for true and for false claims, each of shape (cells, 2)."""
    true = [(one.true_pass, one.true_pass + one.false_fail) for one in cells.values()]
    false = [(one.true_fail, one.true_fail + one.false_pass) for one in cells.values()]
    return np.array(true, dtype=np.float64), np.array(false, dtype=np.float64)


def _effective(
    rate: float, side: Floats, values: Floats | None, ideas: int, is_of_two: NDArray[np.bool_]
) -> float:
    """Return how many independent claims are worth as much as those of one side.

    Where all verdicts are right, or all wrong, they show no correlation, and one is assumed.
    """
    n = float(side[:, 1].sum())
    if values is None:
        return n
    if not 0 < rate < 1:
        size = float((side[:, 1] ** 2).sum()) / n
        return n / (1 + UNSEEN_CORRELATION * (size - 1))
    own = ((side[:, 0] - rate * side[:, 1]) / n) ** 2
    jackknife = float(np.nanvar(values)) * (ideas - 1)
    variance = max(jackknife - float(own[is_of_two].sum()), float(own.sum()))
    effect = variance / (rate * (1 - rate) / n)
    return n / max(effect, 1 - 1 / ideas)


def _left_out(
    cells: Mapping[Ideas, JudgeCounts], sides: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Return each rate without one idea, shape (ideas,); NaN where no claim is left."""
    places: dict[Hashable, int] = {}
    pairs = np.array([[places.setdefault(idea, len(places)) for idea in pair] for pair in cells])
    is_of_two = pairs[:, 0] != pairs[:, 1]
    rates = []
    for side in sides:
        without = np.tile(side.sum(axis=0), (len(places), 1))
        np.subtract.at(without, pairs[:, 0], side)
        np.subtract.at(without, pairs[is_of_two, 1], side[is_of_two])
        with np.errstate(divide="ignore", invalid="ignore"):
            rates.append(np.where(without[:, 1] > 0, without[:, 0] / without[:, 1], np.nan))
    return rates[0], rates[1]
