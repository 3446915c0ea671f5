"""Issues that pass significantly more rarely than the others of their run."""

from math import comb

import pytest

from reports.underperforming.rule import (
    EXACT,
    PERMUTED,
    Before,
    Counted,
    IssueComparison,
    issue_comparisons,
)
from tests.bench.validity.underperforming import false_alarms


def single(**issues):
    """Issues of single answers: k of n by number."""
    return {
        int(name.lstrip("i")): [Counted(int(place < k), 1) for place in range(n)]
        for name, (k, n) in issues.items()
    }


def standing(found, issue):
    return next(one for one in found.issues if one.issue == issue)


def test_a_planted_issue_is_found_among_those_that_do_well():
    # 185 of 205 pass; issue 1 passes 1 of 5 and issue 2 4 of 5.
    found = issue_comparisons(single(i1=(1, 5), i2=(4, 5), i3=(180, 195)), {}, single=True)

    assert [one.issue for one in found.below] == [1]
    assert found.rule == EXACT


def test_the_p_of_single_answers_is_that_of_random_choices_of_tests():
    # Of 80 tests 62 passed: the choices of 9 of which at most 2 did.
    found = issue_comparisons(single(i1=(2, 9), i2=(60, 71)), {}, single=True)
    choices = sum(comb(62, k) * comb(18, 9 - k) for k in range(3))

    assert standing(found, 1).p == pytest.approx(choices / comb(80, 9), rel=1e-9)
    assert standing(found, 1).others == 60 / 71


def test_single_answers_may_be_counted_together():
    issues = single(i1=(2, 9), i2=(60, 71))
    together = {1: [Counted(2, 9)], 2: [Counted(60, 71)]}

    assert issue_comparisons(together, {}, single=True) == issue_comparisons(
        issues, {}, single=True
    )


def test_a_low_p_among_many_issues_may_be_chance():
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

    assert found.rule == PERMUTED
    assert standing(found, 1).p == pytest.approx(0.1, abs=0.01)
    assert found.below == ()


def test_tests_that_all_fail_among_repeats_underperform():
    # Of the choices of 8 of 48 tests one fails as often: p is below 1 in 10,000, twice by Holm.
    issues = {1: [Counted(0, 5)] * 8, 2: [Counted(5, 5)] * 40}
    found = issue_comparisons(issues, {}, single=False)

    assert (standing(found, 1).p, standing(found, 1).holm) == (1 / 10_001, 2 / 10_001)
    assert [one.issue for one in found.below] == [1]


def test_an_issue_above_the_rate_is_not_below_it():
    issues = {1: [Counted(5, 5)] * 8, 2: [Counted(0, 5)] * 40}

    assert standing(issue_comparisons(issues, {}, single=False), 1).p == 1.0


def test_an_issue_that_passed_in_none_of_the_last_three_runs_is_named_apart():
    last = {1: [Before(9, 0, 1), Before(8, 0, 2), Before(7, 0, 1)]}
    found = issue_comparisons(single(i1=(0, 1), i2=(3, 6)), last, single=True)

    assert [one.issue for one in found.never_passed] == [1]
    assert found.below == ()


@pytest.mark.parametrize(
    "last",
    [
        pytest.param([Before(9, 0, 1), Before(8, 0, 1)], id="two runs"),
        pytest.param([Before(9, 0, 1), Before(8, 1, 4), Before(7, 0, 1)], id="one pass"),
    ],
)
def test_fewer_runs_or_one_pass_do_not_name_an_issue(last):
    found = issue_comparisons(single(i1=(0, 1), i2=(3, 6)), {1: last}, single=True)

    assert found.never_passed == ()


def test_a_pass_before_the_last_three_runs_does_not_help():
    last = (*(Before(run, 0, 1) for run in (9, 8, 7)), Before(6, 1, 1))

    assert IssueComparison(1, 0, 1, 1, None, None, None, last=last).never_passed


def test_a_run_of_which_nothing_is_scored_has_no_rate():
    found = issue_comparisons({}, {}, single=True)

    assert (found.rate, found.issues) == (None, ())


def test_an_only_issue_has_no_others_to_be_below():
    found = issue_comparisons(single(i1=(0, 5)), {}, single=True)

    assert (found.issues[0].p, found.issues[0].others) == (1, None)


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_run_that_fails_nearly_everything_names_no_issue_for_that(repeats):
    # Sign flips around the run's rate named one in every such run.
    issues = {issue: [Counted(0, repeats)] * 8 for issue in range(9)}
    issues[9] = [Counted(repeats, repeats)] * 8

    assert issue_comparisons(issues, {}, single=repeats == 1).below == ()


@pytest.mark.parametrize(("repeats", "agree"), [(1, False), (3, False), (3, True)])
@pytest.mark.parametrize("rate", [0.1, 0.7])
def test_without_an_underperforming_issue_few_runs_name_one(rate, repeats, agree):
    assert false_alarms(rate, (10, 8), repeats=repeats, agree=agree, runs=100) <= 0.05
