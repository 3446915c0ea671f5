"""Position bias: the share of verdicts that changed with the order, and its direction."""

import pytest

from evalhub.statistics.judges.position_bias import OrderedVerdict, position_bias
from evalhub.statistics.rates.rate_interval import Method


def pairs(*verdicts):
    """Verdicts of one test each, of an issue each."""
    return [OrderedVerdict(n, n, given, turned) for n, (given, turned) in enumerate(verdicts)]


def test_a_judge_that_takes_what_is_listed_first_favours_it():
    # In the order as given it takes the first place, reversed the last: 8 of 8 towards the first.
    found = position_bias(pairs(*[(0, 1)] * 8, *[(1, 1)] * 12))

    assert (found.changed, found.n, found.towards_first, found.direction) == (8, 20, 8, 1)
    assert found.test.p == pytest.approx(1 / 2**8)
    assert found.method is Method.BY_ISSUE


def test_changes_both_ways_have_no_direction():
    found = position_bias(pairs(*[(0, 1)] * 5, *[(1, 0)] * 5))

    assert (found.changed, found.direction, found.test.p) == (10, 0, 1)


def test_one_that_favours_the_last_is_told_from_one_that_favours_the_first():
    assert position_bias(pairs(*[(1, 0.5)] * 6)).direction == -1
    assert position_bias(pairs(*[(0.5, 1)] * 6)).direction == 1


def test_verdicts_on_one_test_are_one_unit_and_no_further_evidence():
    one_test = [OrderedVerdict(1, 1, 0, 1)] * 20

    found = position_bias(one_test)
    assert (found.changed, found.moved, found.test.p) == (20, 1, 0.5)
    assert found.interval.low < 0.3  # as of one test
    assert found.method is Method.BY_TEST


def test_from_five_issues_on_issues_are_units_too():
    found = position_bias([OrderedVerdict(n, n % 5, 0, 1) for n in range(50)])
    assert (found.test.p, found.moved) == (pytest.approx(1 / 2**5), 5)
    assert position_bias([OrderedVerdict(n, n % 4, 0, 1) for n in range(50)]).moved == 50


def test_nothing_judged_twice_is_not_measured():
    assert position_bias([]) is None
