from random import Random

import pytest

from evalhub.statistics.alpha_interval import nominal_alpha_interval
from evalhub.statistics.bootstrap_of import bootstrap_of
from evalhub.statistics.krippendorff import alpha_from_coincidences, coincidences, summed


def clusters(n, *, options=2, seed=1):
    """As many issues with five answers each, that two or three people judged."""
    rng = Random(seed)

    def unit():
        truth = rng.randrange(options)
        raters = rng.choice((2, 3))
        return [truth if rng.random() < 0.8 else rng.randrange(options) for _ in range(raters)]

    return [coincidences([unit() for _ in range(5)]) for _ in range(n)]


@pytest.mark.parametrize("options", [2, 4])
def test_it_is_the_interval_that_the_general_bootstrap_finds(options):
    rows = clusters(25, options=options)
    found = nominal_alpha_interval(rows, seed=4, resamples=400)
    expected = bootstrap_of(
        lambda drawn: alpha_from_coincidences(summed(drawn), "nominal"),
        rows,
        range(25),
        seed=4,
        resamples=400,
    )
    assert found == pytest.approx(expected, abs=1e-9)


def test_equal_seeds_give_equal_intervals():
    rows = clusters(10)
    first, second = (nominal_alpha_interval(rows, seed=7, resamples=200) for _ in range(2))
    assert first == second
    assert first != nominal_alpha_interval(rows, seed=8, resamples=200)


def test_one_cluster_says_nothing_of_the_spread():
    assert nominal_alpha_interval(clusters(1), seed=1) is None


def test_clusters_without_a_pair_do_not_count():
    assert nominal_alpha_interval([*clusters(1), {}, {}], seed=1) is None


def test_full_agreement_has_no_interval_of_width_zero():
    rows = [coincidences([[1, 1], [0, 0]]) for _ in range(5)]
    assert nominal_alpha_interval(rows, seed=1) is None


def test_one_value_throughout_has_no_interval():
    rows = [coincidences([[1, 1]]) for _ in range(5)]
    assert nominal_alpha_interval(rows, seed=1) is None


def test_no_resamples_are_refused():
    with pytest.raises(ValueError, match="resamples"):
        nominal_alpha_interval(clusters(3), seed=1, resamples=0)
