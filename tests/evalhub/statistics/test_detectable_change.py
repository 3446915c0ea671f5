"""The loss that the conclusion of two runs shows in 80 %."""

import pytest

from evalhub.statistics.changes.detectable_change import ASSUMED, Plan, detectable_change


@pytest.mark.parametrize(
    ("tests", "points"), [((200,), 8), ((10,) * 20, 8), ((1,) * 100, 10.7), ((4,) * 100, 5.4)]
)
def test_an_assumed_share_shows_what_the_normal_approximation_says(tests, points):
    assert 100 * detectable_change(tests, ASSUMED) == pytest.approx(points, rel=0.07)


def test_a_loss_larger_than_all_changes_adds_some():
    # Six of 20 tests are lost before p falls below 5 %, at 15 % of changes as at none.
    for sizes in (ASSUMED, ()):
        assert 0.28 < detectable_change((20,), sizes) < 0.36
    assert 0.005 < detectable_change((20,) * 50, ()) < 0.01
    assert detectable_change((4,), ASSUMED) is None


def test_smaller_losses_show_where_repeats_change_in_part_and_where_the_level_is_higher():
    whole = detectable_change((10,) * 10, ((1.0, 0.3),))

    assert detectable_change((10,) * 10, ((1 / 3, 0.3),)) < whole / 2
    assert detectable_change((10,) * 10, ((1.0, 0.3),), level=0.01) > whole * 1.1
    assert detectable_change((10,) * 10, ((1.0, 0.3),)) == whole


def test_a_plan_takes_the_changes_of_an_earlier_pair_of_enough_tests():
    few = Plan.of([1] * 100, [1.0] * 19).detectable()
    found = Plan.of([60, 40], [-0.5, 0.5, 1, 0] * 5).detectable()

    assert (few.changed, few.is_measured, few.shares_issues) == (0.15, False, False)
    assert (found.changed, found.is_measured, found.shares_issues) == (0.75, True, True)
