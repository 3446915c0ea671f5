"""Which issues a run does worse on than on the rest."""

from math import comb

import pytest

from reports.underperforming.rule import (
    EXACT,
    FLIPPED,
    Before,
    Counted,
    IssueComparison,
    issue_comparisons,
)


def single(**issues):
    """Issues of single answers: k of n by number."""
    return {
        int(name.lstrip("i")): [Counted(int(place < k), 1) for place in range(n)]
        for name, (k, n) in issues.items()
    }


def at_most(k, n, rate):
    return sum(comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(k + 1))


def standing(found, issue):
    return next(one for one in found.issues if one.issue == issue)


def test_a_planted_issue_is_found_among_those_that_do_well():
    # 185 of 205 pass; issue 1 passes 1 of 5 and issue 2 4 of 5.
    found = issue_comparisons(single(i1=(1, 5), i2=(4, 5), i3=(180, 195)), {}, single=True)

    assert [one.issue for one in found.listed] == [1]
    assert found.rule == EXACT


def test_the_p_of_single_answers_is_that_of_the_binomial_test():
    found = issue_comparisons(single(i1=(2, 9), i2=(60, 71)), {}, single=True)

    assert standing(found, 1).p == pytest.approx(at_most(2, 9, 62 / 80), rel=1e-9)


def test_single_answers_may_be_counted_together():
    issues = single(i1=(2, 9), i2=(60, 71))
    together = {1: [Counted(2, 9)], 2: [Counted(60, 71)]}

    assert issue_comparisons(together, {}, single=True) == issue_comparisons(
        issues, {}, single=True
    )


def test_its_bound_lies_below_the_runs_rate():
    found = issue_comparisons(single(i1=(2, 9), i2=(60, 71)), {}, single=True)
    one = standing(found, 1)

    assert at_most(2, 9, one.upper) == pytest.approx(0.05, abs=1e-6)
    assert one.is_below is (one.upper < found.rate) is True


def test_a_low_bound_among_many_issues_may_be_chance():
    # Uncorrected, 0 of 2 at a rate of 80 % has p = 0.04.
    many = {issue: [Counted(1, 1)] * 8 + [Counted(0, 1)] * 2 for issue in range(20)}
    found = issue_comparisons({**many, 99: [Counted(0, 1)] * 2}, {}, single=True)
    one = standing(found, 99)

    assert one.p is not None
    assert one.p < 0.05
    assert not one.is_below


def test_repeats_of_a_test_are_no_news_of_their_own():
    # One test, asked 20 times and failed 20 times, is one test that failed.
    issues = {1: [Counted(0, 20)], 2: [Counted(20, 20)] * 9}
    found = issue_comparisons(issues, {}, single=False)

    assert found.rule == FLIPPED
    assert standing(found, 1).p == 0.5
    assert found.listed == ()


def test_tests_that_all_fail_among_repeats_are_listed_with_a_bound():
    # Eight tests below the rate: one of 2^8 ways, and Holm over two issues.
    issues = {1: [Counted(0, 5)] * 8, 2: [Counted(5, 5)] * 40}
    found = issue_comparisons(issues, {}, single=False)
    one = standing(found, 1)

    assert (one.p, one.holm) == (1 / 256, 2 / 256)
    assert one.is_listed
    assert one.upper is not None
    assert one.upper < found.rate


def test_an_issue_above_the_rate_is_not_below_it():
    issues = {1: [Counted(5, 5)] * 8, 2: [Counted(0, 5)] * 40}

    assert standing(issue_comparisons(issues, {}, single=False), 1).p == 1.0


def test_an_issue_that_passed_in_none_of_the_last_three_runs_is_listed_however_small():
    last = {1: [Before(9, 0, 1), Before(8, 0, 2), Before(7, 0, 1)]}
    found = issue_comparisons(single(i1=(0, 1), i2=(3, 6)), last, single=True)

    assert [one.issue for one in found.listed] == [1]
    assert not found.listed[0].is_below


@pytest.mark.parametrize(
    "last",
    [
        pytest.param([Before(9, 0, 1), Before(8, 0, 1)], id="two runs"),
        pytest.param([Before(9, 0, 1), Before(8, 1, 4), Before(7, 0, 1)], id="one pass"),
    ],
)
def test_fewer_runs_or_one_pass_do_not_list_an_issue(last):
    found = issue_comparisons(single(i1=(0, 1), i2=(3, 6)), {1: last}, single=True)

    assert found.listed == ()


def test_a_pass_before_the_last_three_runs_does_not_help():
    last = (*(Before(run, 0, 1) for run in (9, 8, 7)), Before(6, 1, 1))

    assert IssueComparison(1, 0, 1, 1, None, None, is_single=True, last=last).never_passed


def test_a_run_of_which_nothing_is_scored_has_no_rate():
    found = issue_comparisons({}, {}, single=True)

    assert (found.rate, found.issues) == (None, ())
