from math import comb
from random import Random

import pytest

from evalhub.statistics.rates.hypergeometric import few_drawn


def test_few_drawn_by_hand_and_no_surprise_where_all_or_none_are_drawn():
    # Of 15 tests 10 passed, and none of 5: C(5,5) / C(15,5).
    assert few_drawn(0, 5, 10, 15) == pytest.approx(1 / comb(15, 5))
    assert few_drawn(3, 8, 3, 8) == few_drawn(0, 0, 3, 8) == 1


def test_equals_scipy(scipy_stats):
    rng = Random(1)
    for size in (2, 30, 400, 100_000):
        for _ in range(50):
            passed, n = rng.randint(0, size), rng.randint(0, size)
            k = rng.randint(max(0, n - size + passed), min(n, passed))
            expected = scipy_stats.hypergeom.cdf(k, size, passed, n)
            assert few_drawn(k, n, passed, size) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("counts", [(3, 2, 4, 5), (1, 6, 4, 5), (1, 2, 6, 5), (0, 5, 4, 8)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ValueError, match="expected"):
        few_drawn(*counts)
