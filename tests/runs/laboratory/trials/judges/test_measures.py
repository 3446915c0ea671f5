from dataclasses import replace

import pytest

from evalhub.statistics.rates.rate_interval import Method
from runs.laboratory.trials.claims.claim_rule import Kind, claims_of
from runs.laboratory.trials.judges.measures import ClaimVerdict, Share, Violation, measures_of
from tests.runs.laboratory.trials.graphs import artifacts, verdicts

EQUALITY = (Kind.EQUAL, Kind.DIFFERENT)


@pytest.fixture(scope="module")
def facts():
    return [
        *artifacts(topics=4, ideas=10, corrupted={(100, "java"), (205, "pl1")}),
        *artifacts(topics=2, ideas=8, is_clustered=True, start=50),
    ]


def measured(facts, judge, kinds=EQUALITY):
    return measures_of(verdicts(claims_of(facts, seed=1, kinds=kinds), facts, judge))


def test_a_judge_that_always_says_7(facts):
    found = measured(facts, lambda claim, order: 7)

    assert found.balanced.value == 0.5
    assert found.hard_false == Share(96, 96)
    assert found.specificity == Share(0, 328)
    assert found.symmetric.share == 1
    assert found.transitive.share == 1
    assert not found.violations


def test_a_judge_that_always_says_1_has_no_triples(facts):
    found = measured(facts, lambda claim, order: 1)

    assert found.balanced.value == 0.5
    assert found.hard_false == Share(0, 96)
    assert found.sensitivity == Share(0, 328)
    assert found.symmetric.share == 1
    assert found.transitive is None


def test_a_judge_that_prefers_the_first_text(facts):
    found = measured(facts, lambda claim, order: 7, kinds=[Kind.RANK])

    # 56 ideas of 3 summaries, less 2 corrupted ones, each in both orders.
    assert found.symmetric == Share(0, 166)
    assert found.prefers_first == Share(166, 166)
    assert found.prefers_second.part == 0
    assert found.balanced.value == 0.5


def test_a_judge_that_ranks_well_has_no_position_bias(facts):
    found = measured(facts, lambda claim, order: 1 if order else 7, kinds=[Kind.RANK])

    assert (found.balanced.value, found.symmetric.share, found.prefers_first.part) == (1, 1, 0)


def test_the_one_triple_that_is_not_transitive_is_named():
    equal = {(1, 2): 7, (2, 3): 7, (1, 3): 1}
    said = [
        ClaimVerdict("equal", "similarity", True, s >= 4, ((a, None), (b, None)), (1, 1), score=s)
        for (a, b), s in equal.items()
    ]
    found = measures_of(said)

    assert found.transitive == Share(0, 1)
    assert found.violations == (Violation((1, None), (2, None), (3, None)),)


def test_a_judge_that_reads_one_order_only_is_not_symmetric(facts):
    found = measured(facts, lambda claim, order: 7 if order == 0 else 1)

    assert found.symmetric.part == 0
    assert found.symmetric.n == 328
    assert found.transitive is None


def test_failed_verdicts_are_counted_and_change_nothing_else(facts):
    claims = claims_of(facts, seed=1, kinds=EQUALITY)
    right = verdicts(claims, facts, lambda claim, order: 7 if claim.truth else 1)
    failed = [replace(one, verdict=None, score=None) for one in right[:10]]
    found = measures_of([*failed, *right[10:]])

    assert (found.asked, found.failed, found.scored) == (656, 10, 646)
    assert found.right == Share(646, 646)
    assert sum(sum(one.values()) for one in found.scores.values()) == 646


def test_nothing_measured_is_none():
    found = measures_of([])

    nothing = (found.balanced, found.right, found.hard_false, found.symmetric, found.transitive)
    assert nothing == (None,) * 5


def test_true_claims_alone_have_no_balanced_accuracy(facts):
    found = measured(facts, lambda claim, order: 7, kinds=[Kind.EQUAL])

    assert found.balanced is None
    assert found.right.share == 1


def test_a_perfect_judge_is_not_certain(facts):
    found = measured(facts, lambda claim, order: 7 if claim.truth else 1)

    assert found.balanced.value == 1
    assert 0.95 < found.balanced.interval.low < 1
    assert found.balanced.method is Method.BY_IDEA


def test_few_ideas_are_not_accounted_for():
    facts = artifacts(topics=2, ideas=2)
    found = measured(facts, lambda claim, order: 7 if claim.truth else 1)

    assert found.balanced.method is Method.BY_CLAIM
