"""Models compared test by test, on the suites that both ran in the same version."""

import pytest

from reports.leaderboard.pairing_rule import ScoredTest, model_pairs
from reports.leaderboard.rule import RankedModel, SuiteScore


def ranked(model, *suites, first_run=0, version="1"):
    """A model with these scores by suite, and its scored tests; each test is its own issue."""
    scores, results = [], {}
    for suite, tests in enumerate(suites):
        run = first_run + suite
        given = [score for score in tests if score is not None]
        scores.append(SuiteScore(suite, version, sum(given) / len(given), (run,)))
        results[run] = [
            ScoredTest(100 * suite + i, 100 * suite + i, 1.0, score)
            for i, score in enumerate(tests)
            if score is not None
        ]
    return RankedModel(
        model, sum(one.score for one in scores) / len(scores), tuple(scores)
    ), results


def pair_of(first, second):
    (one, ours), (other, theirs) = first, second
    (pair,) = model_pairs([one, other], ours | theirs)
    return pair


def test_suites_count_once_however_many_tests_they_have():
    pair = pair_of(
        ranked("a", [1, 1], [1, 1, 1, 1]), ranked("b", [0, 0], [1, 1, 1, 0], first_run=10)
    )
    assert pair.difference == pytest.approx((1 + 0.25) / 2)
    assert (pair.suites, pair.tests, pair.changed) == (2, 6, 3)


def test_p_counts_all_ways_to_swap_the_tests_that_differ():
    pair = pair_of(ranked("a", [1] * 5), ranked("b", [0] * 5, first_run=10))
    assert (pair.p, pair.holm) == (2 / 2**5, 2 / 2**5)


def test_only_tests_that_both_have_scored_are_compared():
    pair = pair_of(ranked("a", [1, None, 1]), ranked("b", [0, 0, None], first_run=10))
    assert (pair.tests, pair.difference) == (1, 1)


def test_suites_in_another_version_are_not_compared():
    pair = pair_of(ranked("a", [1] * 9), ranked("b", [0] * 9, first_run=10, version="2"))
    assert (pair.suites, pair.difference, pair.p, pair.holm) == (0, None, None, None)


def test_equal_models_have_a_p_of_one():
    assert pair_of(ranked("a", [1, 0]), ranked("b", [1, 0], first_run=10)).p == 1


def test_correction_is_for_all_pairs():
    (a, ra), (b, rb), (c, rc) = (
        ranked(name, [score] * 8, first_run=10 * i)
        for i, (name, score) in enumerate([("a", 1), ("b", 0.5), ("c", 0)])
    )
    assert [pair.holm for pair in model_pairs([a, b, c], ra | rb | rc)] == [3 * 2 / 2**8] * 3


def by_issues(issues, *, alike=0):
    """Model "a" passes 12 tests of so many issues, and "b" none; both one of each issue alike."""
    tests = [(i, i % issues) for i in range(12)]
    same = [ScoredTest(100 + i, 100 + i, 1.0, 1.0) for i in range(alike)]
    runs = {
        run: [ScoredTest(test, issue, 1.0, score) for test, issue in tests] + same
        for run, score in ((1, 1.0), (2, 0.0))
    }
    models = [
        RankedModel(name, score, (SuiteScore(1, "1", score, (run,)),))
        for name, score, run in (("a", 1.0, 1), ("b", 0.0, 2))
    ]
    return model_pairs(models, runs)[0]


@pytest.mark.parametrize(
    ("issues", "alike", "permuted"),
    [(6, 0, (True, 6, 2 / 2**6)), (5, 0, (False, 12, 2 / 2**12)), (5, 1, (True, 5, 2 / 2**5))],
)
def test_six_issues_are_permuted_as_wholes_however_few_differ(issues, alike, permuted):
    pair = by_issues(issues, alike=alike)
    assert (pair.is_by_issue, pair.changed, pair.p) == permuted


def test_small_suites_are_permuted_by_issue_where_enough_of_all_their_issues_differ():
    """Five suites of two issues each: 10 issues, of which 6 suffice for a single pair."""
    models, results = [], dict[int, list[ScoredTest]]()
    for first_run, score in ((0, 1.0), (100, 0.0)):
        model, _ = ranked(str(score), *[[score] * 4] * 5, first_run=first_run)
        models.append(model)
        results |= {
            first_run + suite: [
                ScoredTest(suite * 10 + i, suite * 10 + i % 2, 1.0, score) for i in range(4)
            ]
            for suite in range(5)
        }
    (pair,) = model_pairs(models, results)
    assert (pair.is_by_issue, pair.tests, pair.changed) == (True, 20, 10)
    assert (pair.difference, pair.p) == (pytest.approx(1), 2 / 2**10)


def test_several_runs_of_a_suite_are_averaged_by_test():
    one = RankedModel("a", 0.5, (SuiteScore(1, "1", 0.5, (1, 2)),))
    other = RankedModel("b", 0.0, (SuiteScore(1, "1", 0.0, (3,)),))
    results = {
        1: [ScoredTest(7, 7, 1, 1)],
        2: [ScoredTest(7, 7, 1, 0)],
        3: [ScoredTest(7, 7, 1, 0)],
    }
    assert model_pairs([one, other], results)[0].difference == 0.5


def test_heavy_tests_weigh_more():
    suites = [(SuiteScore(1, "1", 0.0, (run,)),) for run in (1, 2)]
    results = {
        1: [ScoredTest(7, 7, 3, 1), ScoredTest(8, 8, 1, 0)],
        2: [ScoredTest(7, 7, 3, 0), ScoredTest(8, 8, 1, 1)],
    }
    models = [RankedModel("a", 0, suites[0]), RankedModel("b", 0, suites[1])]
    assert model_pairs(models, results)[0].difference == (3 - 1) / 4


def test_a_pair_can_be_seen_from_either_model():
    pair = pair_of(ranked("a", [1, 1]), ranked("b", [0, 1], first_run=10))
    seen = pair.seen_from("b")
    assert (seen.first, seen.second, seen.difference, seen.p) == ("b", "a", -0.5, pair.p)
    assert pair.seen_from("a") is pair
