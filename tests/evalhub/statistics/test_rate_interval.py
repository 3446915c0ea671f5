import pytest

from evalhub.statistics.rates.rate_interval import Method, mean_interval, rate_interval
from evalhub.statistics.rates.wilson import wilson_interval


def test_below_five_issues_it_is_wilsons_by_test_and_says_so():
    found = rate_interval([(1, 2), (2, 3), (0, 1), (5, 6)])
    assert found.interval == pytest.approx(wilson_interval(8, 12))
    assert found.method == "Wilson by test, does not account for issues"


def test_repeats_are_no_further_tests():
    assert rate_interval([(3, 12)], answers=3).interval == wilson_interval(1, 4)


def test_issues_without_a_scored_result_do_not_count():
    assert rate_interval([(1, 2)] * 4 + [(0, 0)]).method is Method.BY_TEST


def test_known_value_of_five_issues():
    # p = 1/2, variance 5/4 · 4 · 25 / 50² = 0.05: effective n = 0.25 / 0.05 = 5, t(4) = 2.7764;
    # 1 + t²/n = 2.5417, half = t / 2.5417 · √(0.05 + t²/100) = 0.3894.
    found = rate_interval([(10, 10), (10, 10), (0, 10), (0, 10), (5, 10)])
    assert found.interval == pytest.approx((0.1106, 0.8894), abs=1e-4)
    assert found.method is Method.BY_ISSUE


def test_results_that_depend_on_their_issue_have_a_wider_interval():
    alike = rate_interval([(10, 10)] * 5 + [(0, 10)] * 5).interval
    mixed = rate_interval([(5, 10)] * 10).interval
    assert alike.high - alike.low > 2 * (mixed.high - mixed.low)


def test_where_all_pass_a_correlation_is_assumed():
    single = wilson_interval(100, 100)
    found = rate_interval([(10, 10)] * 10).interval
    assert found.low < single.low - 0.05
    assert found.high == 1


def test_nothing_scored_is_refused():
    with pytest.raises(ValueError, match="scored"):
        rate_interval([(0, 0)])


def test_a_mean_of_few_issues_has_no_interval():
    assert mean_interval([(1.0, 2.0)] * 4) is None


def test_equal_means_say_nothing_of_the_spread():
    assert mean_interval([(1.0, 2.0)] * 9) is None


def test_a_mean_of_whole_results_has_the_interval_of_the_rate():
    issues = [(10, 10), (9, 10), (0, 10), (1, 10), (5, 10)]
    assert mean_interval(issues) == pytest.approx(rate_interval(issues).interval)
