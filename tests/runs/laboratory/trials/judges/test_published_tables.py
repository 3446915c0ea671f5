"""The published experiment of summaries in COBOL, PL/1 and Java, from its tables of scores.

This holds the arithmetic only: scores are dealt out to claims as they come.
"""

from collections import Counter
from itertools import chain, repeat

import pytest

from runs.laboratory.trials.claims.claim_rule import Kind, claims_of
from runs.laboratory.trials.judges.measures import measures_of
from tests.runs.laboratory.trials.graphs import artifacts, verdicts

TABLE_1 = {"laaj1": {4: 23, 5: 44, 6: 156, 7: 8}, "laaj2": {4: 21, 5: 113, 6: 85, 7: 13}}
"""Scores of the true pairs of different topics."""

TABLE_2 = {"laaj1": {4: 3, 5: 2, 6: 89, 7: 5}, "laaj2": {4: 1, 5: 59, 6: 34, 7: 3}}
"""Scores of the pairs of two clusters that were called true; those of 4 were wrong."""

TWO_PROGRAMS_LOST = {(100, "cobol"), (205, "java")}
MAIN = artifacts(topics=4, ideas=10, corrupted=TWO_PROGRAMS_LOST)
CLUSTERS = artifacts(topics=2, ideas=8, is_clustered=True, start=50)


def canned(facts, true_scores, false_scores):
    """Deal out scores to true claims and to false ones, in both orders; None where they end."""
    dealt = {
        True: chain(Counter(true_scores).elements(), repeat(None)),
        False: chain(Counter(false_scores).elements(), repeat(1)),
    }
    claims = claims_of(facts, seed=1, kinds=[Kind.EQUAL, Kind.DIFFERENT])
    return verdicts(claims, facts, lambda claim, order: next(dealt[claim.truth]))


def main_set(judge):
    return canned(MAIN, TABLE_1[judge], {})


def clusters(judge):
    wrong = TABLE_2[judge][4]
    return canned(CLUSTERS, {k: n for k, n in TABLE_2[judge].items() if k > 4}, {4: wrong})


@pytest.mark.parametrize("judge", ["laaj1", "laaj2"])
def test_both_judges_are_right_on_all_pairs_of_different_topics(judge):
    found = measures_of(main_set(judge))

    assert found.asked == 232 + 232
    assert found.right.share == 1
    assert found.symmetric.share == 1
    assert found.scores[True] == TABLE_1[judge]


def test_one_pair_is_missing_in_the_first_column_of_table_1():
    # 231 of 232: a pair below 4 would make 463 of 464 = 99.78 %, where 100 % is printed.
    assert {judge: sum(column.values()) for judge, column in TABLE_1.items()} == {
        "laaj1": 231,
        "laaj2": 232,
    }
    assert measures_of(main_set("laaj1")).failed == 1
    assert measures_of(main_set("laaj2")).failed == 0
    missing_below_4 = canned(MAIN, TABLE_1["laaj1"] | {3: 1}, {})
    assert round(100 * measures_of(missing_below_4).right.share, 2) == 99.78


@pytest.mark.parametrize(
    ("judge", "wrong", "in_clusters", "in_all"),
    [("laaj1", 3, 98.44, 99.54), ("laaj2", 1, 99.48, 99.85)],
)
def test_errors_are_hard_negatives_at_the_threshold(judge, wrong, in_clusters, in_all):
    found = measures_of(clusters(judge))

    assert found.asked == 2 * 96
    assert (found.counts.true_pass, found.counts.false_fail) == (96, 0)
    assert (found.hard_false.part, found.hard_false.n) == (wrong, 96)
    assert round(100 * found.right.share, 2) == in_clusters
    called = Counter(found.scores[True]) + Counter({4: found.scores[False][4]})
    assert called == TABLE_2[judge]

    # The pair that table 1 lacks counts as right, as the printed 100 % says.
    everything = measures_of([*main_set(judge), *clusters(judge)])
    right = everything.right.part + everything.failed
    assert everything.asked == 656
    assert round(100 * right / 656, 2) == in_all
