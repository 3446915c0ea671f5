from random import Random

import pytest

from runs.laboratory.trials.claims.claim_rule import Kind, claims_of
from runs.laboratory.trials.judges.best_judge import best_judge
from tests.runs.laboratory.trials.graphs import artifacts, verdicts

FACTS = artifacts(topics=4, ideas=10)
CLAIMS = claims_of(FACTS, seed=1, kinds=[Kind.EQUAL, Kind.DIFFERENT])


def judge(accuracy, *, seed=1, failing=0.0):
    """Return verdicts of a judge that is right on so many claims, alike in both orders."""
    rng = Random(seed)
    right = {claim: rng.random() < accuracy for claim in CLAIMS}
    fails = {claim: rng.random() < failing for claim in CLAIMS}

    def score(claim, order):
        return None if fails[claim] else (7 if right[claim] == claim.truth else 1)

    return verdicts(CLAIMS, FACTS, score)


def test_the_judge_with_the_highest_accuracy_is_the_best():
    found = best_judge({"good": judge(0.97), "fair": judge(0.8), "coin": judge(0.5)})

    assert found.best == "good"


def test_judges_that_intervals_do_not_separate_are_tied():
    found = best_judge({"a": judge(0.96), "b": judge(0.95, seed=2), "coin": judge(0.5)})

    assert found.best is None
    assert set(found.candidates) == {"a", "b"}


def test_constant_judges_are_tied():
    constant = {
        name: verdicts(CLAIMS, FACTS, lambda claim, order, score=score: score)
        for name, score in (("always 7", 7), ("always 1", 1))
    }

    assert set(best_judge(constant).candidates) == set(constant)


def test_a_judge_that_fails_often_takes_no_part():
    found = best_judge({"good": judge(0.9), "lucky": judge(1, failing=0.2)})

    assert found.best == "good"
    assert found.left_out["lucky"].startswith("only ")


@pytest.mark.parametrize("judges", [{}, {"nothing": []}])
def test_without_verdicts_nobody_is_the_best(judges):
    assert best_judge(judges).candidates == ()


def test_without_false_claims_nobody_is_the_best():
    true = verdicts([claim for claim in CLAIMS if claim.truth], FACTS, lambda *_: 7)

    assert best_judge({"always 7": true}).left_out == {
        "always 7": "a task lacks true or false claims"
    }
