import pytest

from evalhub.statistics.changes.group_permutation import GroupPermutation
from evalhub.statistics.rates.hypergeometric import few_drawn

SHARES = [1.0] * 20 + [0.0] * 80


def test_single_answers_estimate_the_hypergeometric_p():
    permutation = GroupPermutation(SHARES, seed=1)
    for passed in range(4):
        group = [1.0] * passed + [0.0] * (10 - passed)
        assert permutation.p_of(group) == pytest.approx(few_drawn(passed, 10, 20, 100), abs=0.015)


def test_lowest_group_has_the_smallest_p():
    assert GroupPermutation([0.0] * 30 + [1.0] * 970, seed=1).p_of([0.0] * 30) == 1 / 10_001


def test_a_group_like_all_others_is_no_surprise():
    assert GroupPermutation([1 / 3] * 40, seed=1).p_of([1 / 3] * 5) == 1


def test_equal_seeds_give_equal_p():
    first, second = (GroupPermutation(SHARES, seed=5).p_of([0.0] * 12) for _ in range(2))
    assert first == second


def test_no_group_has_no_p():
    assert GroupPermutation(SHARES, seed=1).p_of([]) is None


def test_more_units_than_there_are_are_refused():
    with pytest.raises(ValueError, match="at most 2 units, got 3"):
        GroupPermutation([1, 0], seed=1).p_of([0, 0, 0])


def test_no_draws_are_refused():
    with pytest.raises(ValueError, match="got 0"):
        GroupPermutation([1], draws=0, seed=1)
