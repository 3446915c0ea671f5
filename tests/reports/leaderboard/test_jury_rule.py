"""Which runs of a suite are ranked together: those that were judged alike."""

import pytest

from reports.leaderboard.jury_rule import comparable_runs
from reports.leaderboard.rule import SuiteRun
from runs.comparison.comparability_rule import Scoring

A, B, CHECKS = "a", "b", ""
SCORINGS = {whole: Scoring(whole, "", ()) for whole in (A, B, CHECKS)}


def took(run, model, scale, suite=1):
    return SuiteRun(run, suite, model, "v", None, "tests", scale)


def alike(*runs, baseline=None):
    found = comparable_runs(runs, SCORINGS, {1: baseline} if baseline else {})
    return [one.run for one in found.counted], [(one.run, one.like) for one in found.apart]


@pytest.mark.parametrize(
    ("ran", "baseline", "counted", "apart"),
    [
        pytest.param(
            [("kelp", A), ("reed", A), ("aurora", B)], None, [1, 2], [(3, 2)], id="most models"
        ),
        pytest.param([("kelp", A), ("reed", B)], None, [2], [(1, 2)], id="newest of equals"),
        pytest.param(
            [("kelp", A), ("reed", B), ("aurora", B)], 1, [1], [(2, 1), (3, 1)], id="baseline"
        ),
        pytest.param(
            [("kelp", A), ("reed", A), *[("kelp", B)] * 3], None, [1, 2], [(5, 2)], id="one model"
        ),
        pytest.param(
            [("kelp", A), ("reed", A), ("kelp", B)], None, [1, 2], [(3, 2)], id="earlier run"
        ),
        pytest.param([("kelp", A), ("kelp", B), ("reed", B)], None, [2, 3], [], id="old jury"),
        pytest.param([("kelp", A), ("reed", CHECKS)], None, [1, 2], [], id="checks alone"),
    ],
)
def test_the_scale_is_that_of_the_baseline_or_of_most_models(ran, baseline, counted, apart):
    runs = [took(number, model, scale) for number, (model, scale) in enumerate(ran, 1)]
    assert alike(*runs, baseline=baseline) == (counted, apart)


def test_each_suite_has_its_own_scale():
    runs = took(1, "kelp", A), took(2, "reed", B, suite=2)

    assert comparable_runs(runs, SCORINGS, {}).apart == ()
