"""The detectable change of the test that is used."""

import numpy as np
import pytest

from evalhub.statistics.changes.detectable import ASSUMED, detectable_change, detectable_of
from evalhub.statistics.changes.mcnemar_power import detectable_by_mcnemar


@pytest.mark.parametrize("tests", [(1,) * 200, (200,), (40,) * 5])
def test_by_test_it_is_that_of_mcnemar(tests):
    assert detectable_change(tests, ASSUMED) == detectable_by_mcnemar(200, 0.15)


def test_by_whole_issue_more_must_change():
    by_issue = detectable_change((5,) * 12, ((1.0, 0.4),))

    assert detectable_by_mcnemar(60, 0.4) * 1.02 < by_issue < detectable_by_mcnemar(60, 0.4) * 1.4


def test_equal_tests_give_equal_figures():
    detectable_change.cache_clear()
    first = detectable_change((10,) * 8, ASSUMED)
    detectable_change.cache_clear()

    assert detectable_change((10,) * 8, ASSUMED) == first


def test_smaller_changes_are_detectable_where_repeats_change_in_part():
    thirds = ((1 / 3, 0.3),)

    assert detectable_change((1,) * 100, thirds) < detectable_by_mcnemar(100, 0.3) / 2


@pytest.mark.parametrize(
    ("tests", "sizes"),
    [((10,), ASSUMED), ((2,) * 10, ASSUMED), ((10,) * 10, ((1.0, 0.02),)), ((10,) * 10, ())],
)
def test_too_few_changes_detect_nothing(tests, sizes):
    assert detectable_change(tests, sizes) is None


def test_everything_changes_and_is_found():
    assert 0 < detectable_change((10,) * 10, ((1.0, 1.0),)) < 0.6


def test_a_small_pair_of_runs_measures_nothing():
    found = detectable_of(range(100), [1.0] * 19)

    assert (found.changed, found.is_measured) == (0.15, False)


def test_changes_are_measured_by_their_sizes():
    found = detectable_of([1] * 100, [-0.5, 0.5, 1, 0] * 5)

    assert (found.changed, found.is_measured, found.shares_issues) == (0.75, True, True)


def test_no_tests_detect_nothing():
    assert detectable_of([], [1.0] * 50) is None


def test_large_suites_take_seconds():
    rng = np.random.default_rng(1)
    tests = tuple(sorted(rng.integers(1, 60, size=150).tolist()))

    assert 0 < detectable_change(tests, ASSUMED) < 0.03
