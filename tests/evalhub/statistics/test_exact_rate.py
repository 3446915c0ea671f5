"""Exact bounds of a rate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc  # type: ignore[import-untyped]
from scipy.stats import beta  # type: ignore[import-untyped]

from evalhub.statistics.rates.exact_rate import (
    beta_share,
    least_tests,
    lower_bound,
    upper_bound,
)


@given(st.floats(0.001, 0.999), st.floats(0.05, 500), st.floats(0.05, 500))
def test_the_beta_function_is_exact(x, a, b):
    assert beta_share(x, a, b) == pytest.approx(betainc(a, b, x), rel=1e-9, abs=1e-12)


@given(st.integers(1, 300), st.floats(0, 1))
def test_bounds_are_those_of_clopper_and_pearson_of_fractions_too(n, share):
    found = min(n - 1e-3, n * share)

    assert upper_bound(found, n) == pytest.approx(beta.ppf(0.95, found + 1, n - found), rel=1e-7)
    assert lower_bound(n - found, n) == pytest.approx(1 - upper_bound(found, n))


def test_planted_bounds():
    assert upper_bound(0, 3) == pytest.approx(0.632, abs=5e-4)
    assert upper_bound(0, 24) == pytest.approx(0.117, abs=5e-4)
    assert upper_bound(2, 100) == pytest.approx(0.062, abs=5e-4)
    assert (upper_bound(5, 5), lower_bound(0, 5)) == (1, 0)


@pytest.mark.parametrize(
    ("limit", "none", "one"), [(0.1, 29, 46), (0.2, 14, 22), (0.3, 9, 14), (0.5, 5, 8)]
)
def test_so_many_tests_are_needed(limit, none, one):
    assert (least_tests(limit), least_tests(limit, 1)) == (none, one)


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="got 4 of 3"):
        upper_bound(4, 3)
    with pytest.raises(ValueError, match="got 1"):
        least_tests(1)
