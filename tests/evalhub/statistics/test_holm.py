from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.changes.holm import holm

p_values = st.lists(st.none() | st.floats(0, 1), max_size=30)


@pytest.mark.parametrize(
    ("given_ps", "corrected"),
    [
        # Of four: 0.005 · 4, 0.01 · 3, 0.03 · 2, and 0.04 · 1 is not below the one before it.
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        # A comparison that was not made is not counted.
        ([None, 0.02, None, 0.5], [None, 0.04, None, 0.5]),
        *(([], []), ([None], [None]), ([0.049], [0.049]), ([0.6, 0.9], [1, 1])),
    ],
)
def test_known_values(given_ps, corrected):
    assert holm(given_ps) == pytest.approx(corrected)


@given(p_values)
def test_adjusting_keeps_the_order_and_lowers_nothing(given_ps):
    pairs = [(p, q) for p, q in zip(given_ps, holm(given_ps), strict=True) if p is not None or q]
    assert all(p <= q <= 1 for p, q in pairs)
    assert [q for _, q in sorted(pairs)] == sorted(q for _, q in pairs)


def test_equals_statsmodels(multitest):
    rng = Random(1)
    for m in (1, 2, 5, 40):
        given_ps = [rng.random() ** 4 for _ in range(m)]
        expected = multitest.multipletests(given_ps, method="holm")[1]
        assert holm(given_ps) == pytest.approx(list(expected))


def test_impossible_p_is_refused():
    with pytest.raises(ValueError, match=r"got 0.2 to 5"):
        holm([5, 0.2])
