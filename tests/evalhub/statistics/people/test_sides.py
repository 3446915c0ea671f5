"""Which readings count, and with what chance and weight."""

import numpy as np
import pytest

from evalhub.statistics.people.sides import (
    Lots,
    is_telling,
    reading,
    shared,
    side_of,
    skipped_too_often,
)


def test_chances_are_the_read_share_of_a_stratum_and_tests_weigh_alike():
    side = side_of(
        tests=[1, 1, 2, 3],
        issues=[1, 1, 1, 2],
        judged=[1, 0, 1, 1],
        read=[1, None, None, 0.5],
        strata=["a", "a", "b", "b"],
    )

    assert side.weights == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3])
    assert side.chances == pytest.approx([0.5] * 4)
    assert side.is_read.tolist() == [True, False, False, True]


def test_answers_of_a_stratum_outside_of_the_comparison_count_for_its_chance():
    side = side_of([1, 2], [1, 1], [1, 1], [1, None], ["a", "b"], {"a": 4})

    assert side.chances.tolist() == [0.25, 0.0]


def test_columns_have_one_length():
    with pytest.raises(ValueError, match="one length"):
        side_of([1, 2], [1], [1, 1], [None, None], ["a", "a"])


def test_only_tests_that_both_have_and_that_can_differ_are_compared():
    first = side_of([1, 2, 3, 4], [1] * 4, [1] * 4, [1] * 4, ["a"] * 4)
    second = side_of([2, 3, 4, 5], [1] * 4, [0] * 4, [0] * 4, ["a"] * 4)
    found = shared(first, second, same_words=[3, 9])

    assert found is not None
    assert [side.tests.tolist() for side in found[:2]] == [[2, 4], [2, 4]]
    assert found[0].weights == pytest.approx([0.5, 0.5])
    assert found[2] == pytest.approx(2 / 3)


def test_several_readers_count_with_their_mean_and_a_decision_replaces_them():
    assert reading({}) is None
    assert reading({1: 1.0, 2: 0.0, 3: 1.0}) == pytest.approx(2 / 3)
    assert reading({1: 1.0, 2: 0.0}, adjudicated=0.0) == 0.0


def test_a_stratum_of_which_more_than_a_tenth_was_skipped_is_named():
    some = [Lots("plain", 40, 36, 4), Lots("telling", 40, 31, 9), Lots("none", 0, 0, 0)]

    assert skipped_too_often(some) == [some[1]]


def test_a_test_is_telling_where_verdicts_differ_or_judges_are_split():
    found = is_telling([1, 1, 1, 0], [1, 0, 1, 0], [False, False, True, False], np.zeros(4, bool))

    assert found.tolist() == [False, True, True, False]
