from itertools import permutations, product

import numpy as np
import pytest

from evalhub.statistics.changes.row_permutation import columns_differ_p


def by_enumeration(rows):
    seen = np.ptp(np.sum(rows, axis=0))
    ranges = [
        np.ptp(np.sum(orders, axis=0)) for orders in product(*map(list, map(permutations, rows)))
    ]
    return np.mean([one >= seen - 1e-9 for one in ranges])


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 0]] * 6,
        [[1, 0], [0, 1], [1, 0], [1, 0]],
        [[1, 0, 0], [1, 0, 1], [1, 0, 0], [0.5, 0, 1]],
    ],
)
def test_p_is_near_enumeration(rows):
    error = 0.25 * by_enumeration(rows)  # a draw that ends at 20 has an error of 22 %
    assert columns_differ_p(rows, seed=1) == pytest.approx(by_enumeration(rows), abs=error)


def test_equal_columns_are_no_surprise():
    assert columns_differ_p([[1, 1, 1], [0, 0, 0]], seed=1) == 1


def test_columns_far_apart_have_the_smallest_p():
    assert columns_differ_p([[1, 0, 0, 0]] * 20, seed=1, draws=999) == 1 / 1000


@pytest.mark.parametrize("rows", [[], [[1], [0]]])
def test_one_column_is_compared_with_nothing(rows):
    assert columns_differ_p(rows, seed=1) is None


def test_equal_seed_gives_equal_p():
    rows = np.random.default_rng(1).integers(0, 2, (12, 4)).tolist()
    assert columns_differ_p(rows, seed=3) == columns_differ_p(rows, seed=3)


def test_no_draws_are_refused():
    with pytest.raises(ValueError, match="got 0"):
        columns_differ_p([[1, 0]], seed=1, draws=0)
