import json

from reports.leaderboard.certainty_rule import certainty, inputs
from reports.leaderboard.rule import RankedModel, SuiteScore


def standing(model, *scores, version="1"):
    suites = tuple(SuiteScore(n, version, score, (n,)) for n, score in enumerate(scores))
    return RankedModel(model, sum(scores) / len(scores), suites)


GOOD = standing("good", *[0.9 - n / 100 for n in range(10)])
BAD = standing("bad", *[0.5 - n / 50 for n in range(10)])


def test_models_that_differ_in_every_suite_have_one_rank_each():
    found = certainty([GOOD, BAD])
    assert [tuple(found[name].ranks) for name in ("good", "bad")] == [(1, 1), (2, 2)]


def test_models_that_differ_here_and_there_share_ranks():
    other = standing("other", *[0.9 - n / 100 + (-1) ** n / 50 for n in range(10)])
    found = certainty([GOOD, other])
    assert [tuple(found[name].ranks) for name in ("good", "other")] == [(1, 2), (1, 2)]


def test_other_versions_of_the_suites_tell_nothing():
    elsewhere = standing("bad", *[0.1] * 10, version="2")
    assert tuple(certainty([GOOD, elsewhere])["good"].ranks) == (1, 2)


def test_mean_lies_in_its_interval():
    interval = certainty([GOOD])["good"].interval
    assert interval.low < GOOD.mean < interval.high


def test_one_suite_has_no_interval():
    assert certainty([standing("alone", 0.4)])["alone"].interval is None


def test_inputs_are_json_that_the_scores_change():
    assert json.dumps(inputs([GOOD])) != json.dumps(inputs([BAD]))
