import json
from functools import reduce

import numpy as np
import pytest

from reports.leaderboard.certainty_rule import by_mean, certainty, inputs
from reports.leaderboard.certainty_tables import lead, overlap
from tests.bench.validity.leaderboard import SMALL, Shape, board_of, false_alarms, told_apart
from tests.reports.leaderboard.test_pairing import ranked


def board(*models):
    """The certainty of models with these scores by test, of one suite or several."""
    found = [ranked(name, *suites, first_run=10 * i) for i, (name, *suites) in enumerate(models)]
    return certainty([one for one, _ in found], reduce(dict.__or__, (of for _, of in found)))


def ranks(found):
    return {name: tuple(one.ranks) for name, one in found.models.items()}


GOOD, BAD = ("good", [1] * 10), ("bad", [0] * 10)
NAMES = {name: name.title() for name in ("good", "bad", "other", "alone")}


def test_models_that_differ_in_every_test_have_one_rank_each():
    found = board(GOOD, BAD)
    assert ranks(found) == {"good": (1, 1), "bad": (2, 2)}
    assert (found.told_apart, found.leader) == (1, "good")


def test_models_that_differ_here_and_there_share_ranks():
    found = board(("good", [1, 0] * 5), ("other", [0, 1] * 5))
    assert ranks(found) == {"good": (1, 2), "other": (1, 2)}
    assert found.leader is None


def test_a_leader_is_said_to_be_first_with_its_evidence():
    sentence = lead(NAMES, board(GOOD, BAD))
    assert sentence == (
        "Good is first: judges rate it better than the other model on the tests that both have."
    )


def test_a_single_ranked_model_leads_nobody():
    assert board(("alone", [1] * 50)).leader is None


def test_a_model_that_may_share_its_rank_does_not_lead():
    # Both are better than the last one, and may be first.
    found = board(GOOD, ("other", [1] * 9 + [0]), BAD)
    assert ranks(found) == {"good": (1, 2), "other": (1, 2), "bad": (3, 3)}
    assert found.leader is None
    assert lead(NAMES, found) == "Cannot tell which model is first: 2 of 3 may be."


def test_a_best_possible_rank_of_two_is_not_first():
    found = board(("other", [1] * 9 + [0]), BAD, GOOD)
    assert [name for name, one in found.models.items() if one.ranks.best == 1] == ["other", "good"]
    assert found.leader is None


def test_a_model_that_can_be_compared_with_nobody_leaves_no_leader():
    # "other" was judged by others, and is compared with nobody.
    better, theirs = ranked("other", [1] * 10, scale="2", first_run=100)
    (good, ours), (bad, worse) = ranked("good", [1] * 10), ranked("bad", [0] * 10, first_run=50)
    assert certainty([better, good, bad], theirs | ours | worse).leader is None


@pytest.mark.parametrize(("tests", "is_too_small"), [(4, True), (5, False)])
def test_four_tests_are_too_few_for_two_models_and_five_are_not(tests, is_too_small):
    found = board(("good", [1] * tests), ("bad", [0] * tests))
    assert (found.is_too_small, found.leader is None) == (is_too_small, is_too_small)


def test_too_little_data_is_said_to_be_too_little():
    sentence = lead(NAMES, board(("good", [1] * 4), ("bad", [0] * 4)))
    assert "Cannot tell any two models apart: two differ in at most 4 tests" in sentence
    assert "at least 5 are needed" in sentence


def test_without_a_shared_test_nothing_is_concluded():
    (one, ours), (other, theirs) = (
        ranked("good", [1] * 9),
        ranked("bad", [0] * 9, scale="2", first_run=9),
    )
    found = certainty([one, other], ours | theirs)
    assert ranks(found) == {"good": (1, 2), "bad": (1, 2)}
    assert "No two models share a test" in lead(NAMES, found)


def test_mean_lies_in_its_interval():
    model, results = ranked("good", [1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1])
    interval = certainty([model], results).models["good"].interval
    assert interval.low < model.mean < interval.high


def test_a_test_in_several_suites_is_said_and_has_its_weight_once():
    # The second suite lists the first one's two tests and one more.
    model, results = ranked("alone", [1, 1], [1, 1, 0], same_tests=True)
    found = certainty([model], results)

    assert overlap(found) == "2 suites, 3 different tests, 2 of them in two or more."
    assert found.models["alone"].mean == pytest.approx((1 + (0.5 + 0.5) / 2) / 2)
    assert by_mean([model], found)[0].mean == found.models["alone"].mean


def test_below_five_suites_there_is_no_interval():
    model, results = ranked("few", [1, 0], [1, 1], [0, 0], [1, 1])
    assert certainty([model], results).models["few"].interval is None


def test_inputs_are_json_that_scores_change():
    good, bad = ranked("good", [1] * 10)[0], ranked("bad", [0] * 10)[0]
    assert json.dumps(inputs([good])) != json.dumps(inputs([bad]))


@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_nested_models_are_told_apart_at_two_suites_of_twenty_tests(shape):
    assert told_apart(shape, step=10, least=10, boards=20) == 1


@pytest.mark.parametrize("issues", [4, 10])
def test_of_forty_models_all_that_differ_one_way_in_thirty_tests_are_told_apart(issues):
    assert told_apart(Shape(40, 10, 50, issues), step=10, least=30, boards=1) == 1


def test_a_leader_by_tests_is_named_with_the_caveat():
    # Both issues have 20 tests: 40 that differ.
    found = board_of(np.array([[[True] * 20] * 2, [[False] * 20] * 2]), Shape(2, 2, 20, 1))
    sentence = lead({"m00": "Good", "m01": "Bad"}, found)
    assert "Good is first" in sentence
    assert sentence.endswith("Tests of one issue may fail together.")


def test_a_leader_by_issues_needs_no_caveat():
    assert "fail together" not in lead(NAMES, board(GOOD, BAD))


@pytest.mark.parametrize("issues", [6, 8])
def test_equal_models_that_fail_whole_issues_are_told_apart_on_few_boards(issues):
    shape = Shape(2, 1, 40, issues)
    assert false_alarms(shape, rate=0.5, boards=300, whole_issues=True) <= 0.05


@pytest.mark.parametrize("rate", [0.5, 0.9])
def test_equal_models_are_told_apart_on_few_boards(rate):
    assert false_alarms(Shape(3, 2, 20, 20), rate=rate, boards=200) <= 0.05
