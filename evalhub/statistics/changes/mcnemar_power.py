"""The exact power of McNemar's test."""

from math import exp, log, sqrt
from sys import float_info
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.changes.change_test import ALPHA
from evalhub.statistics.rates.binomial import at_most

Floats = NDArray[np.float64]

POWER = 0.8
"""Chance to detect a change for which it is called detectable."""

_HALVINGS = 20
_DEVIATIONS = 9
_TOLERANCE = 1e-9


def detectable_by_mcnemar(
    tests: int, discordance: float, *, power: float = POWER, alpha: float = ALPHA
) -> float | None:
    """Return the net change, as a share of tests, that exact McNemar detects with the given power.

    Each test is discordant with chance d, independently; a net change of δ makes it better with
    (d + δ) / 2 and worse with (d - δ) / 2. The power is exact: it sums over every number of
    discordant pairs (within 9 standard deviations) the chance of a two-sided p <= alpha.

    Args:
        tests: Matched tests, n >= 0, each with one answer in either run.
        discordance: d, the share of tests on which the runs differ, in [0, 1]; before a run that
            of an earlier comparison. Smaller changes are detectable if fewer tests differ.
        power: Probability of detecting it, in (0, 1).
        alpha: The two-sided level of the test, in (0, 1).

    Returns:
        In (0, d], to 1e-6; by 100 it is in points. None if not even d is detectable (all discordant
        tests on one side): with the defaults, if fewer than about 6 are expected.

    Raises:
        ValueError: An argument is out of its range.

    Source: exact unconditional power, as in S. W. Duffy (1984), Asymptotic and Exact Power for the
    McNemar Test and its Analogue with R Controls per Case, Biometrics 40, 1005-1015.
    """
    _check(tests, discordance, power, alpha)
    pairs = _discordant(tests, discordance, alpha)
    if pairs.chance[pairs.critical >= 0].sum() < power:
        return None
    low, high = 0.5, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(pairs, middle) >= power else (middle, high)
    return discordance * (2 * high - 1)


class _Discordant(NamedTuple):
    """Consecutive numbers m of discordant pairs; each array of shape (k,)."""

    m: NDArray[np.int64]
    chance: Floats
    critical: NDArray[np.int64]
    """c, the largest count on the rarer side with p <= alpha; -1 if even 0 is too many."""
    choose: Floats
    """log(m over c), meaningless if c is -1."""


def _discordant(tests: int, discordance: float, alpha: float) -> _Discordant:
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, tests + 1)))])
    mean = tests * discordance
    reach = _DEVIATIONS * (sqrt(mean * (1 - discordance)) + 1)
    m = np.arange(max(0, int(mean - reach)), min(tests, int(mean + reach) + 1) + 1)
    chance = _chance(logs[tests] - logs[m] - logs[tests - m], m, tests - m, discordance)
    critical = _critical(logs, int(m[-1]), alpha)[m]
    c = np.maximum(critical, 0)
    return _Discordant(m, chance, critical, logs[m] - logs[c] - logs[m - c])


def _chance(
    choose: Floats, these: NDArray[np.int64], others: NDArray[np.int64], rate: float
) -> Floats:
    """Return the binomial probability of these counts; `rate` is that of the first."""
    tiny = float_info.min  # A chance of 0 has no logarithm.
    logs = choose + these * log(max(rate, tiny)) + others * log(max(1 - rate, tiny))
    return np.asarray(np.exp(logs), dtype=np.float64)


def _critical(logs: Floats, most: int, alpha: float) -> NDArray[np.int64]:
    """Return the c of each m from 0 to `most`; it rises by at most 1, so one pass suffices."""
    critical = np.empty(most + 1, dtype=np.int64)
    c, at_c, below = -1, 0.0, 0.0  # P(X = c) and P(X <= c) of X ~ Binomial(m, ½)
    for m in range(most + 1):
        if c >= 0:
            below -= at_c / 2
            at_c *= m / (2 * (m - c))
        following = exp(logs[m] - logs[c + 1] - logs[m - c - 1] - m * log(2)) if c < m else 0.0
        if c < m and 2 * (below + following) <= alpha + _TOLERANCE:
            c, at_c, below = c + 1, following, below + following
        critical[m] = c
    return critical


def _power(pairs: _Discordant, better: float) -> float:
    """Return the power if a discordant pair is better with this probability."""
    return float((pairs.chance * (_at_most(pairs, better) + _at_most(pairs, 1 - better))).sum())


def _at_most(pairs: _Discordant, rate: float) -> Floats:
    """Return P(X <= c) for X ~ Binomial(m, rate), for consecutive m."""
    m, _, c, choose = pairs
    exactly = np.where(c >= 0, _chance(choose, c, m - c, rate), 0.0)
    first = at_most(int(c[0]), int(m[0]), rate) if c[0] >= 0 else 0.0
    steps = np.where(c[1:] > c[:-1], exactly[1:], 0.0) - rate * exactly[:-1]
    return first + np.concatenate([[0.0], np.cumsum(steps)])


def _check(tests: int, discordance: float, power: float, alpha: float) -> None:
    if tests < 0 or not 0 <= discordance <= 1:
        raise ValueError(
            f"expected tests >= 0 and a discordance between 0 and 1, got {tests}, {discordance}"
        )
    if not 0 < alpha < power < 1:
        raise ValueError(f"expected 0 < alpha < power < 1, got alpha={alpha}, power={power}")
