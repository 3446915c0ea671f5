from random import Random

import pytest

from evalhub.statistics.agreement.alpha_interval import alpha_interval
from evalhub.statistics.agreement.krippendorff import alpha_from_coincidences, coincidences, summed


def clusters(n, *, options=2, seed=1):
    """As many issues with five answers each, that two or three people judged."""
    rng = Random(seed)

    def unit():
        truth = rng.randrange(options)
        raters = rng.choice((2, 3))
        return [truth if rng.random() < 0.8 else rng.randrange(options) for _ in range(raters)]

    return [coincidences([unit() for _ in range(5)]) for _ in range(n)]


@pytest.mark.parametrize("options", [2, 4])
@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_it_holds_the_alpha_and_narrows_with_data(options, level):
    few, many = (clusters(n, options=options) for n in (10, 2500))
    found, narrow = (alpha_interval(one, level, seed=4, resamples=400) for one in (few, many))
    assert found.low < alpha_from_coincidences(summed(few), level) < found.high
    assert narrow.low < alpha_from_coincidences(summed(many), level) < narrow.high
    assert narrow.high - narrow.low < 0.05 < found.high - found.low


def test_equal_seeds_give_equal_intervals():
    rows = clusters(10)
    first, second = (alpha_interval(rows, seed=7, resamples=200) for _ in range(2))
    assert first == second
    assert first != alpha_interval(rows, seed=8, resamples=200)


def test_one_cluster_says_nothing_of_the_spread():
    assert alpha_interval(clusters(1), seed=1) is None


def test_clusters_without_a_pair_do_not_count():
    assert alpha_interval([*clusters(1), {}, {}], seed=1) is None


def test_full_agreement_on_little_data_is_not_certain():
    few, many = ([coincidences([[1, 1], [0, 0]])] * n for n in (5, 500))
    assert alpha_interval(few, seed=1).low < 0.667
    assert alpha_interval(many, seed=1).low > 0.95


def test_one_value_throughout_has_no_interval():
    rows = [coincidences([[1, 1]]) for _ in range(5)]
    assert alpha_interval(rows, seed=1) is None


def test_no_resamples_are_refused():
    with pytest.raises(ValueError, match="resamples"):
        alpha_interval(clusters(3), seed=1, resamples=0)
