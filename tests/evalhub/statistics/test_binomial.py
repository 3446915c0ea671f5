from math import comb
from random import Random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.binomial import at_most, upper_bound
from evalhub.statistics.interval import Interval


def at_least(k, n, rate):
    return at_most(n - k, n, 1 - rate)


def lower_bound(k, n, *, level=0.95):
    mirrored = upper_bound(n - k, n, level=level)
    return None if mirrored is None else 1 - mirrored


def clopper_pearson(k, n, *, level=0.95):
    one_sided = (1 + level) / 2
    high = upper_bound(k, n, level=one_sided)
    return None if high is None else Interval(lower_bound(k, n, level=one_sided), high)


@st.composite
def counts(draw):
    n = draw(st.integers(1, 200))
    return draw(st.integers(0, n)), n


def test_at_most_by_hand():
    # 1/16 of nothing, 4/16 of one: 5/16.
    assert at_most(1, 4, 0.5) == pytest.approx(5 / 16)


def test_at_least_by_hand():
    # R. A. Fisher's lady tasting tea, as independent cups: 7 or 8 right of 8 are 9/256.
    assert at_least(7, 8, 0.5) == pytest.approx(9 / 256)


def test_no_trial_is_no_surprise():
    assert (at_most(0, 0, 0.3), at_least(0, 0, 0.3)) == (1, 1)


def test_certain_failure_and_certain_success():
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


def test_interval_of_nothing_is_not_measured():
    assert (clopper_pearson(0, 0), lower_bound(0, 0), upper_bound(0, 0)) == (None, None, None)


@pytest.mark.parametrize(
    ("k", "n", "expected"),
    [
        # R. G. Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 5.
        (81, 263, (0.2527, 0.3676)),
        (15, 148, (0.0578, 0.1617)),
        (0, 20, (0.0, 0.1684)),
        (1, 29, (0.0009, 0.1776)),
    ],
)
def test_published_clopper_pearson_intervals(k, n, expected):
    assert clopper_pearson(k, n) == pytest.approx(expected, abs=5e-5)


def test_rule_of_three():
    # Nothing of 30: 1 - 0.05^(1/30) = 0.0950, which "3 / n" comes near to.
    assert upper_bound(0, 30) == pytest.approx(1 - 0.05 ** (1 / 30))
    assert lower_bound(0, 30) == 0


@given(counts())
def test_interval_mirrors_when_passes_and_failures_change_places(count):
    k, n = count
    interval, mirrored = clopper_pearson(k, n), clopper_pearson(n - k, n)
    assert interval == pytest.approx((1 - mirrored.high, 1 - mirrored.low))
    assert 0 <= interval.low <= k / n <= interval.high <= 1


def test_intervals_equal_scipy(scipy_stats):
    rng = Random(2)
    for _ in range(40):
        n = rng.choice([1, 5, 30, 400, 5000])
        k, level = rng.randint(0, n), rng.choice([0.8, 0.95, 0.99])
        expected = scipy_stats.binomtest(k, n).proportion_ci(level)
        assert clopper_pearson(k, n, level=level) == pytest.approx(expected, abs=1e-9)
        one_sided = scipy_stats.binomtest(k, n, alternative="less").proportion_ci(level)
        assert upper_bound(k, n, level=level) == pytest.approx(one_sided.high, abs=1e-9)


def test_a_million_trials_take_less_than_a_quarter_of_a_second():
    started = process_time()
    clopper_pearson(500_000, 1_000_000)
    assert process_time() - started < 0.25


@pytest.mark.parametrize(("k", "n"), [(3, 2), (-1, 2)])
def test_impossible_count_is_refused(k, n):
    for function in (lambda: at_most(k, n, 0.5), lambda: clopper_pearson(k, n)):
        with pytest.raises(ValueError, match=f"k={k}, n={n}"):
            function()


def test_impossible_rate_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1, got 50"):
        at_most(1, 2, 50)


def test_impossible_level_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1, got 95"):
        upper_bound(1, 2, level=95)
