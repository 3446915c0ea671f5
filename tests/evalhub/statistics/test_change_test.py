"""The test of a change: by test or by whole issue."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.changes.change_test import (
    FLIPPED_ISSUES,
    FLIPPED_TESTS,
    MAY_FAIL_TOGETHER,
    MCNEMAR,
    change_test,
    is_significant,
)


def test_single_answers_of_separate_issues_are_tested_by_mcnemar():
    # 8 worse and 2 better: 2 * (1 + 10 + 45) / 1024 = 0.109375. Of ten issues of one test.
    found = change_test([-1] * 8 + [1] * 2 + [0] * 100, range(110), single=True)

    assert found.p == pytest.approx(0.109375)
    assert (found.rule, found.caveat, found.if_independent) == (MCNEMAR, "", None)


def test_repeats_are_tested_by_flipping_signs_of_tests():
    # Both of two tests moved one way: 2 of the 4 ways to flip them are as far out.
    found = change_test([-0.5, -0.25], [1, 2], single=False)

    assert (found.p, found.rule) == (0.5, FLIPPED_TESTS)


@pytest.mark.parametrize("issues", range(1, 6))
def test_below_six_changed_issues_tests_are_flipped_with_a_caveat(issues):
    found = change_test([-1] * 20, [n % issues for n in range(20)], single=True)

    assert found.p == pytest.approx(2 / 2**20)
    assert (found.rule, found.caveat) == (MCNEMAR, MAY_FAIL_TOGETHER)


def test_from_six_changed_issues_on_whole_issues_are_flipped():
    found = change_test([-1] * 12, [n % 6 for n in range(12)], single=True)

    assert (found.p, found.rule, found.moved) == (2 / 2**6, FLIPPED_ISSUES, 6)
    assert found.if_independent == pytest.approx(2 / 2**12)
    assert found.independent_rule == MCNEMAR


def test_only_issues_with_tests_that_changed_count():
    # Twenty issues, five of them with a test that changed.
    changes = [-1] * 5 + [-1] * 5 + [0] * 30

    assert change_test(changes, [n % 5 for n in range(10)] + [*range(30)], single=True).p == (
        pytest.approx(2 / 2**10)
    )


def test_an_issue_whose_tests_cancel_out_has_changed():
    # 1 to 5 are worse, two tests of 6 went either way: six issues, five on balance.
    found = change_test([-1] * 6 + [1], [1, 2, 3, 4, 5, 6, 6], single=True)

    assert (found.rule, found.moved, found.p) == (FLIPPED_ISSUES, 5, 2 / 2**5)


@given(st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.integers(1, 12)), max_size=40))
def test_the_direction_of_changes_does_not_choose_the_test(rows):
    changes, issues = [change for change, _ in rows], [issue for _, issue in rows]
    turned = change_test([-abs(change) for change in changes], issues, single=True)

    assert change_test(changes, issues, single=True).rule == turned.rule


@pytest.mark.parametrize("worse", range(6))
def test_fewer_than_six_flips_are_never_evidence(worse):
    p = change_test([-1] * worse, range(worse), single=True).p

    assert p is None or p > 0.05


def test_nothing_compared_has_no_p():
    assert change_test([], [], single=True).p is None


def test_no_change_is_no_evidence():
    assert change_test([0, 0], [1, 1], single=True).p == 1


@pytest.mark.parametrize(("p", "expected"), [(0.05, True), (0.0501, False), (None, False)])
def test_a_p_of_the_level_is_significant(p, expected):
    assert is_significant(p) is expected


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="got 2, 1"):
        change_test([1, 1], [1], single=True)
