"""Newcombe's interval of the difference of two rates."""

import pytest

from evalhub.statistics.rates.rate_difference import rate_difference_interval
from evalhub.statistics.rates.wilson import wilson_interval


@pytest.mark.parametrize(
    ("a", "m", "b", "n", "low", "high"),
    [
        # R. G. Newcombe (1998), Statistics in Medicine 17, 873-890, table II, method 10.
        (56, 70, 48, 80, 0.0524, 0.3339),
        (9, 10, 3, 10, 0.1705, 0.8090),
        (10, 10, 0, 10, 0.6075, 1.0000),
    ],
)
def test_published_intervals(a, m, b, n, low, high):
    found = rate_difference_interval(a / m, wilson_interval(a, m), b / n, wilson_interval(b, n))

    assert found == pytest.approx((low, high), abs=5e-5)
