"""A slide over releases that no single step shows."""

import pytest

from evalhub.statistics.changes.conclusion import Outcome, Pair, conclude
from evalhub.statistics.changes.slow_decay import Slope, slow_change
from tests.bench.validity.decay import STEADY, found

PASS, FAIL = Outcome.whole(1.0), Outcome.whole(0.0)


def slide(tests, releases):
    """Outcomes of so many tests of which one more fails in each release."""
    return [
        [FAIL if release > test else PASS for release in range(releases)] for test in range(tests)
    ]


def test_a_slide_of_single_losses_is_found_and_no_step_of_it():
    rows = slide(40, 12)

    assert slow_change(rows, [1] * 40).slope == Slope.FELL
    assert slow_change([row[::-1] for row in rows], [1] * 40).slope == Slope.ROSE
    assert not conclude(Pair(1, row[4], row[5]) for row in rows).word.is_loss


def test_what_is_missing_is_counted_against_the_slope():
    rows = [[*row[:-3], *[Outcome(None)] * 3] for row in slide(12, 12)]

    assert slow_change(slide(12, 12), [1] * 12).slope == Slope.FELL
    assert slow_change(rows, [1] * 12).slope == Slope.CANNOT_TELL


@pytest.mark.parametrize("rows", [[], slide(9, 2), [[PASS, None, None]] * 9])
def test_two_releases_or_tests_of_a_single_one_are_no_trend(rows):
    assert slow_change(rows, [1] * len(rows)) is None


def test_a_test_that_came_later_counts_from_then_on():
    rows = [[None, None, *row] for row in slide(12, 10)]

    assert slow_change(rows, [1] * 12).p == slow_change(slide(12, 10), [1] * 12).p


def test_where_nothing_slides_little_is_found():
    assert found("reference", 40, 8, STEADY, 20, 40) <= 0.15
