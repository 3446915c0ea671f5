from dataclasses import replace

import pytest

from reports.leaderboard.rule import (
    Excluded,
    Latest,
    SuiteRun,
    Sums,
    board,
    by_family,
    latest,
    remixed,
    suite_scores,
)


def took(run, *, suite=1, model="m", variant="v", launch=None, tests="1"):
    return SuiteRun(run, suite, model, variant, launch, tests, "scale")


def test_newest_run_of_a_suite_counts_alone():
    assert latest([took(2), took(1)]) == [Latest(1, "m", "1 scale", (1,))]


@pytest.mark.parametrize(
    ("runs", "counted"),
    [
        ([{"launch": 7}, {"launch": 7}], (1, 2)),
        ([{"launch": 6}, {"launch": 7}], (2,)),
        ([{}, {}], (2,)),  # without a launch they are no siblings
        ([{"launch": 7, "tests": "old"}, {"launch": 7, "tests": "new"}], (2,)),
        # A launch that recurs counts with its newest runs.
        ([{"launch": 7, "variant": variant} for variant in "abab"], (3, 4)),
    ],
)
def test_variants_of_the_newest_launch_of_a_version_count_together(runs, counted):
    rows = [took(n, **{"variant": str(n)} | fields) for n, fields in enumerate(runs, 1)]
    assert latest(rows)[0].runs == counted


def scored(**suites_by_model):
    """Scores of models in suites 0, 1, 2 …; None: the model did not take it."""
    return {
        model: {
            one.suite: one
            for suite, score in enumerate(given)
            if score is not None
            for one in _one(suite, score)
        }
        for model, given in suites_by_model.items()
    }


def _one(suite, score):
    found = suite_scores([Latest(suite, "m", "1", (suite,))], {suite: score})
    return found["m"].values()


def test_score_in_a_suite_is_the_mean_over_variants_with_a_score():
    found = suite_scores([Latest(1, "m", "1", (1, 2, 3))], {1: 0.4, 2: 0.8, 3: None})
    assert found["m"][1].score == pytest.approx(0.6)
    assert suite_scores([Latest(1, "m", "1", (1,))], {1: None}) == {}


def test_each_suite_counts_once_and_the_best_mean_comes_first():
    found = board(scored(a=(0.5, 0.7), b=(0.9, 0.8)), least=2)
    assert [(one.model, one.mean) for one in found.ranked] == [
        ("b", pytest.approx(0.85)),
        ("a", pytest.approx(0.6)),
    ]


def test_too_few_suites_give_a_reason():
    found = board(scored(a=(0.5, 0.7), b=(0.9, None)), least=2)
    assert [one.model for one in found.ranked] == ["a"]
    assert found.excluded == (Excluded("b", "needs ≥ 2 suites, has 1"),)


def test_same_suites_only_leaves_out_what_one_did_not_take():
    found = board(scored(a=(0.1, 0.9, 0.9), b=(0.5, 0.5, None)), least=2, same_only=True)
    assert found.shared == {0, 1}
    assert [(one.model, one.mean) for one in found.ranked] == [("a", 0.5), ("b", 0.5)]
    apart = board(scored(a=(0.1, None), b=(None, 0.5)), least=1, same_only=True)
    assert (apart.ranked, apart.shared) == ((), frozenset())


# Rubric 0.8 and similarity 0.4 at β = 0.25 come to 0.7.
MIXED = Sums(n=1, weight=1, weighted=0.7, own_beta=0.25, mixed_weight=1, mixed=0.7, similar=0.4)


@pytest.mark.parametrize(("beta", "score"), [(0, 0.8), (0.25, 0.7), (0.5, 0.6), (1, 0.4)])
def test_score_at_another_share_of_similarity(beta, score):
    assert MIXED.at(beta) == pytest.approx(score)
    one = remixed(0.7, 0.4, own_beta=0.25, beta=beta)
    assert one == pytest.approx(score)


def test_one_result_without_similarity_has_no_score_at_another_share():
    assert remixed(0.7, None, own_beta=0, beta=0.5) is None


def test_what_has_no_share_is_no_score():
    plain = Sums(n=3, weight=3, weighted=1.5)
    assert (plain.at(0), plain.at(0.2)) == (0.5, None)
    only_similar = replace(MIXED, weighted=0.4, own_beta=1, mixed=0.4)
    assert (only_similar.at(0), only_similar.at(1)) == (None, 0.4)
    assert Sums(0, 0, 0).score is None


# Worked cases: two prompts, coverage 0.7 and 0.8 (model A), 0.5 and 0.4 (model B), alone or with
# weights 2 and 0.5. Similarity has no share in them, but is averaged beside.
@pytest.mark.parametrize(
    ("scores", "weights", "mean"),
    [
        ((0.7, 0.8), (1, 1), 0.75),
        ((0.5, 0.4), (1, 1), 0.45),
        ((0.7, 0.8), (2, 0.5), 0.72),
        ((0.5, 0.4), (2, 0.5), 0.48),
    ],
)
def test_score_of_a_run_is_weighted_by_its_tests(scores, weights, mean):
    pairs_ = list(zip(weights, scores, strict=True))
    found = Sums(2, sum(weights), sum(w * s for w, s in pairs_))
    assert found.score == pytest.approx(mean)


def test_family_has_the_mean_of_its_models_in_each_suite():
    found = by_family(scored(a=(0.4, 0.6), b=(0.8, None)), {"a": "f", "b": "f"})
    assert [one.score for one in found["f"].values()] == pytest.approx([0.6, 0.6])
