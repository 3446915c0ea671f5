from random import Random
from statistics import stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.rates.clustered_error import clustered_error


def error(values, clusters=None, weights=None):
    clusters = range(len(values)) if clusters is None else clusters
    return clustered_error(values, [1] * len(values) if weights is None else weights, clusters)


def test_by_hand():
    # Mean 0.5; the clusters are off by 0.5 + 0.5 = 1, -0.5 and -0.5: squares 1.5, times 3/2,
    # root 1.5, by 4 tests.
    assert error([1, 1, 0, 0], "aabc") == pytest.approx(1.5 / 4)


def test_published_value():
    # W. S. Gosset ("Student", 1908), doi:10.2307/2331554: the additional sleep of ten patients,
    # whose mean 1.58 has the standard error 1.23 / √10 = 0.389.
    differences = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    assert error(differences) == pytest.approx(0.389, abs=5e-4)


@pytest.mark.parametrize(
    "sample", [([],), ([0, 1], "aa"), ([0, 1], "ab", [1, 0]), ([0.1 + 0.2, 0.3, 0.3],)]
)
def test_fewer_than_two_clusters_that_differ_have_no_error(sample):
    assert error(*sample) is None


@given(st.lists(st.integers(0, 20), min_size=2, max_size=30))
def test_single_values_have_the_ordinary_error(values):
    expected = stdev(values) / len(values) ** 0.5
    assert error(values) == (pytest.approx(expected) if expected else None)


def test_values_that_move_together_count_as_one():
    single = [Random(n).random() for n in range(30)]
    repeated = [value for value in single for _ in range(10)]
    assert error(repeated, [n // 10 for n in range(300)]) == pytest.approx(error(single))


def test_unit_of_the_weights_does_not_matter():
    values, weights = [0.2, 0.9, 0.4, 0.5], [1, 2, 3, 4]
    assert error(values, "aabc", [w / 7 for w in weights]) == pytest.approx(
        error(values, "aabc", weights)
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_equals_statsmodels(weighted, linear_model):
    # Its correction is g / (g - 1) · (n - 1) / (n - k), and k = 1 coefficient, the mean, is fitted.
    rng = np.random.default_rng(1)
    for n, g in ((12, 3), (60, 20), (400, 90)):
        values, clusters = rng.random(n), np.arange(n) % g
        weights = rng.integers(1, 5, n) if weighted else np.ones(n)
        fitted = linear_model.WLS(values, np.ones(n), weights=weights).fit(
            cov_type="cluster", cov_kwds={"groups": clusters}
        )
        assert error(values, list(clusters), list(weights)) == pytest.approx(fitted.bse[0])


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="got 2, 2, 1"):
        error([0, 1], "a")


def test_negative_weight_is_refused():
    with pytest.raises(ValueError, match="got -1"):
        error([0, 1], "ab", [1, -1])
