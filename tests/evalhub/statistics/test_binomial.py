from math import comb
from random import Random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.rates.binomial import at_most


def at_least(k, n, rate):
    return at_most(n - k, n, 1 - rate)


@st.composite
def counts(draw):
    n = draw(st.integers(1, 200))
    return draw(st.integers(0, n)), n


def test_known_values():
    # 1/16 of nothing, 4/16 of one: 5/16.
    assert at_most(1, 4, 0.5) == pytest.approx(5 / 16)
    # R. A. Fisher's lady tasting tea, as independent cups: 7 or 8 right of 8 are 9/256.
    assert at_least(7, 8, 0.5) == pytest.approx(9 / 256)
    assert (at_most(0, 0, 0.3), at_least(0, 0, 0.3)) == (1, 1)
    assert [at_most(k, 3, 0) for k in (0, 3)] == [1, 1]
    assert [at_most(k, 3, 1) for k in (0, 2, 3)] == [0, 0, 1]


@given(counts(), st.floats(0.01, 0.99))
def test_sums_to_the_probabilities_of_each_count(count, rate):
    k, n = count
    terms = [comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(k + 1)]
    assert at_most(k, n, rate) == pytest.approx(sum(terms), rel=1e-9, abs=1e-15)


def test_equals_scipy(scipy_stats):
    rng = Random(1)
    for n in (1, 7, 64, 500, 5000, 1_000_000):
        for _ in range(20):
            rate = rng.random()
            k = min(n, max(0, round(n * rate + rng.gauss(0, 3) * (n * rate * (1 - rate)) ** 0.5)))
            assert at_most(k, n, rate) == pytest.approx(
                scipy_stats.binom.cdf(k, n, rate), rel=1e-8, abs=1e-14
            )


def test_a_million_trials_take_less_than_a_quarter_of_a_second():
    started = process_time()
    at_most(500_000, 1_000_000, 0.5)
    assert process_time() - started < 0.25


@pytest.mark.parametrize(("k", "n"), [(3, 2), (-1, 2)])
def test_impossible_count_is_refused(k, n):
    with pytest.raises(ValueError, match=f"k={k}, n={n}"):
        at_most(k, n, 0.5)


def test_impossible_rate_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1, got 50"):
        at_most(1, 2, 50)
