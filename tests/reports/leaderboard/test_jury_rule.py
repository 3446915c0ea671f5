"""Which runs of a suite are ranked together: those that were judged alike."""

from reports.leaderboard.jury_rule import comparable_runs
from reports.leaderboard.rule import SuiteRun
from runs.comparability import Scoring

A, B, CHECKS = "a", "b", ""
SCORINGS = {whole: Scoring(whole, "", ()) for whole in (A, B, CHECKS)}


def took(run, model, scale, suite=1):
    return SuiteRun(run, suite, model, "v", None, "tests", scale)


def alike(*runs, baseline=None):
    found = comparable_runs(runs, SCORINGS, {1: baseline} if baseline else {})
    return [one.run for one in found.counted], [(one.run, one.like) for one in found.apart]


def test_the_scale_is_the_one_on_which_most_models_ran():
    runs = took(1, "kelp", A), took(2, "reed", A), took(3, "aurora", B)

    assert alike(*runs) == ([1, 2], [(3, 2)])


def test_of_equally_common_scales_the_newest_counts():
    assert alike(took(1, "kelp", A), took(2, "reed", B)) == ([2], [(1, 2)])


def test_a_baseline_sets_the_scale_however_few_models_share_it():
    runs = took(1, "kelp", A), took(2, "reed", B), took(3, "aurora", B)

    assert alike(*runs, baseline=1) == ([1], [(2, 1), (3, 1)])


def test_many_runs_of_one_model_are_no_majority():
    runs = took(1, "kelp", A), took(2, "reed", A), *(took(n, "kelp", B) for n in (3, 4, 5))

    assert alike(*runs) == ([1, 2], [(5, 2)])


def test_an_earlier_run_on_the_scale_counts_for_a_newer_one_that_is_not():
    runs = took(1, "kelp", A), took(2, "reed", A), took(3, "kelp", B)

    assert alike(*runs) == ([1, 2], [(3, 2)])


def test_an_old_jury_that_a_newer_run_replaced_is_not_listed():
    runs = took(1, "kelp", A), took(2, "kelp", B), took(3, "reed", B)

    assert alike(*runs) == ([2, 3], [])


def test_a_run_of_checks_alone_belongs_to_every_scale():
    assert alike(took(1, "kelp", A), took(2, "reed", CHECKS))[1] == []


def test_each_suite_has_its_own_scale():
    runs = took(1, "kelp", A), took(2, "reed", B, suite=2)

    assert comparable_runs(runs, SCORINGS, {}).apart == ()
