"""The evidence that the first of a list is ahead."""

import pytest

from reports.capabilities.champions_rule import Mean
from reports.capabilities.leader_rule import AgainstFirst, by_grades, by_tests
from reports.leaderboard.pairing_rule import ScoredTest
from reports.leaderboard.rule import RankedModel, SuiteScore


def model(name, run, score, *, suites=1, start=0):
    """A model with eight tests, which each of so many suites holds, and its results by run."""
    runs = [10 * run + place for place in range(suites)]
    results = {
        one: [ScoredTest(start + n, start + n, 1.0, score) for n in range(8)] for one in runs
    }
    scores = [SuiteScore(place, "1", score, (one,)) for place, one in enumerate(runs)]
    return RankedModel(name, score, tuple(scores)), results


def compared(*models, lists=1):
    results = {run: rows for _, of in models for run, rows in of.items()}
    return by_tests([[one for one, _ in models]] * lists, results)


@pytest.mark.parametrize("suites", [1, 3])
def test_a_model_is_ahead_on_different_tests_however_many_suites_hold_them(suites):
    good, bad = model("good", 1, 0.9, suites=suites), model("bad", 2, 0.2, suites=suites)

    assert compared(good, bad) == [[AgainstFirst(8, 1 / 2**8)]]


def test_p_is_corrected_for_all_pairs_of_models_of_all_lists():
    models = model("a", 1, 0.9), model("b", 2, 0.2), model("c", 3, 0.2)

    # Three pairs of models in each of two lists.
    assert compared(*models, lists=2)[0][0].p == pytest.approx(6 / 2**8)


def test_models_that_share_no_test_are_not_tested():
    assert compared(model("a", 1, 0.9), model("b", 2, 0.2, start=100)) == [[AgainstFirst(0, None)]]


def test_grades_are_compared_in_the_suites_in_which_both_were_graded():
    better, worse = (
        Mean("a", 9, dict.fromkeys(range(7), 9)),
        Mean("b", 3, dict.fromkeys(range(6), 3)),
    )

    assert by_grades([[better, worse]]) == [[AgainstFirst(6, 1 / 2**6)]]
