"""Models compared on all different tests that both have scored, each once."""

import pytest

from reports.leaderboard.pairing_rule import ScoredTest, model_pairs
from reports.leaderboard.rule import RankedModel, SuiteScore


def ranked(model, *suites, first_run=0, version="1", scale="", issues=0, same_tests=False):
    """A model with these scores by suite, and its scored tests.

    Each test is its own issue, or belongs to one of so many. None is not scored.
    """
    scores, results = [], {}
    for suite, tests in enumerate(suites):
        run = first_run + suite
        given = [score for score in tests if score is not None]
        scores.append(SuiteScore(suite, version, sum(given) / len(given), (run,)))
        start = 0 if same_tests else 100 * suite
        results[run] = [
            ScoredTest(start + i, (start + i) % issues if issues else start + i, 1.0, score, scale)
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


def test_all_different_tests_are_compared_in_whatever_suite():
    pair = pair_of(
        ranked("a", [1, 1], [1, 1, 1, None]), ranked("b", [0, 0], [1, 0, None, 0], first_run=10)
    )

    assert (pair.tests, pair.issues, pair.changed) == (4, 4, 3)
    assert pair.difference == pytest.approx(3 / 4)
    assert pair.interval.low < pair.difference < pair.interval.high


def test_the_same_tests_in_one_or_three_suites_give_the_same_p_to_the_last_digit():
    a, b = [0.1, 0.7, 1 / 3, 1, 0.9] * 8, [0.3, 0.1, 0.1, 0.8, 1] * 8

    def pair(suites):
        mine, theirs = (
            ranked(name, *[scores] * suites, first_run=run, issues=10, same_tests=True)
            for name, scores, run in (("a", a, 0), ("b", b, 10))
        )
        return pair_of(mine, theirs)

    assert pair(1) == pair(3)
    assert pair(3).tests == 40


def test_scores_of_other_judges_are_not_compared():
    pair = pair_of(ranked("a", [1] * 9, scale="x"), ranked("b", [0] * 9, first_run=10, scale="y"))

    assert (pair.tests, pair.difference, pair.p, pair.holm) == (0, None, None, None)


def test_equal_models_have_a_p_of_one():
    assert pair_of(ranked("a", [1, 0]), ranked("b", [1, 0], first_run=10)).p == 1


def test_correction_is_for_all_pairs():
    (a, ra), (b, rb), (c, rc) = (
        ranked(name, [score] * 8, first_run=10 * i)
        for i, (name, score) in enumerate([("a", 1), ("b", 0.5), ("c", 0)])
    )
    assert [pair.holm for pair in model_pairs([a, b, c], ra | rb | rc)] == [3 / 2**8] * 3


@pytest.mark.parametrize(("issues", "unit"), [(5, (True, 5)), (4, (False, 12))])
def test_five_shared_issues_are_flipped_as_wholes(issues, unit):
    pair = pair_of(
        ranked("a", [1] * 12, issues=issues), ranked("b", [0] * 12, first_run=10, issues=issues)
    )

    assert (pair.accounts_for_issues, pair.changed, pair.p) == (*unit, 1 / 2 ** unit[1])


def test_several_runs_of_a_suite_are_averaged_by_test():
    one = RankedModel("a", 0.5, (SuiteScore(1, "1", 0.5, (1, 2)),))
    other = RankedModel("b", 0.0, (SuiteScore(1, "1", 0.0, (3,)),))
    results = {run: [ScoredTest(7, 7, 1, score)] for run, score in ((1, 1), (2, 0), (3, 0))}

    assert model_pairs([one, other], results)[0].difference == 0.5


def test_a_pair_can_be_seen_from_either_model():
    pair = pair_of(ranked("a", [1, 1]), ranked("b", [0, 1], first_run=10))
    seen = pair.seen_from("b")

    assert (seen.first, seen.second, seen.difference, seen.p) == ("b", "a", -0.5, pair.p)
    assert seen.interval.low == -pair.interval.high
    assert pair.seen_from("a") is pair
