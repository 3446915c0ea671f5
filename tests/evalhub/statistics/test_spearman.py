from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.ranking.spearman import spearman

numbers = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), max_size=30)


def test_published_value():
    # Ten people's IQ and hours of television a week, the worked example of Wikipedia, "Spearman's
    # rank correlation coefficient": 1 - 6 · 194 / (10 · 99) = -29/165.
    iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
    hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]
    assert spearman(iq, hours) == pytest.approx(-29 / 165)


def test_equal_values_share_their_ranks():
    # Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: Σ xy = 4.5, Σ x² = 4.5, Σ y² = 5.
    assert spearman([1, 5, 5, 9], [1, 2, 3, 4]) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)


@pytest.mark.parametrize("values", [[], [3], [3, 3, 3]])
def test_without_an_order_it_is_not_measured(values):
    assert spearman(values, range(len(values))) is None


@given(numbers)
def test_only_the_order_matters(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = spearman(first, second)
    assert spearman([a**3 for a in first], second) == found
    assert spearman(second, first) == found
    if found is not None:
        assert spearman([-a for a in first], second) == pytest.approx(-found)
        assert -1 <= found <= 1


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=40))
def test_anything_rises_with_itself(values):
    assert spearman(values, values) == (1 if len(set(values)) > 1 else None)


def test_equals_scipy(scipy_stats):
    rng = Random(1)
    for n, most in ((5, 100), (40, 5), (300, 1000)):
        first, second = ([rng.randint(0, most) for _ in range(n)] for _ in range(2))
        expected = scipy_stats.spearmanr(first, second).statistic
        assert spearman(first, second) == pytest.approx(expected, abs=1e-12)


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="got 2, 1"):
        spearman([1, 2], [1])
