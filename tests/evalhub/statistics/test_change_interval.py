import numpy as np
import pytest

from evalhub.statistics.changes.change_interval import BY_ISSUE, BY_TEST, change_interval


def test_by_test_it_is_the_t_interval_of_scipy(scipy_stats):
    changes = [-1, 0, 0, 0.5, -0.5, 0, 1, -1]

    found = change_interval(changes, [1] * 8, [1, 1, 2, 2, 3, 3, 4, 4])

    expected = scipy_stats.ttest_1samp(changes, 0).confidence_interval()
    assert found.interval == pytest.approx((expected.low, expected.high))
    assert found.method == BY_TEST


def test_by_issue_it_is_the_t_interval_of_the_means_of_issues(scipy_stats):
    means = [-1, 0.5, 0, 0, 0.5]
    changes, issues = np.repeat(means, 4).tolist(), np.repeat(range(5), 4).tolist()

    found = change_interval(changes, [1] * 20, issues)

    expected = scipy_stats.ttest_1samp(means, 0).confidence_interval()
    assert found.interval == pytest.approx((expected.low, expected.high))
    assert (found.method, found.standard_error) == (BY_ISSUE, pytest.approx(np.std(means) / 2))


def test_it_stays_within_the_scale():
    assert change_interval([-1, -1, 0], [1] * 3, [1, 1, 1]).interval.low == -1


@pytest.mark.parametrize("changes", [[], [-1], [-1, -1, -1]])
def test_an_unknown_spread_has_no_interval(changes):
    assert change_interval(changes, [1] * len(changes), range(len(changes))) is None


def test_tests_without_a_weight_do_not_count():
    weighted = change_interval([-1, 0, 1], [1, 2, 0], [1, 2, 3])

    assert weighted == change_interval([-1, 0], [1, 2], [1, 2])
