from random import Random
from time import process_time

import numpy as np
import pytest

from evalhub.statistics.bootstrap import clustered_interval
from evalhub.statistics.paired_bootstrap import paired_interval


def interval(first, second, clusters=None, weights=None, **options):
    clusters = range(len(first)) if clusters is None else clusters
    weights = [1] * len(first) if weights is None else weights
    return paired_interval(first, second, weights, clusters, seed=7, **options)


def scores(n, *, seed, shift=0.0):
    rng = Random(seed)
    return [rng.random() + shift for _ in range(n)]


def test_one_cluster_has_no_interval():
    assert interval([0, 0.5], [1, 0.2], ["a", "a"]) is None


def test_cluster_without_weight_is_no_cluster():
    assert interval([0, 0.5], [1, 0.2], weights=[1, 0]) is None


def test_nothing_compared_has_no_interval():
    assert interval([], []) is None


def test_equal_change_everywhere_has_no_interval():
    assert interval([0.1, 0.2, 0.7], [0.2, 0.3, 0.8]) is None


def test_two_opposite_tests_span_everything():
    # A resample is aa, ab, ba or bb: -1, 0, 0, 1; a quarter of them lie at either end.
    assert interval([1, 0], [0, 1]) == (-1, 1)


def test_published_value():
    # B. Efron, R. J. Tibshirani (1993), An Introduction to the Bootstrap, tables 2.1 and 2.2: the
    # survival of 7 treated mice; infinitely many resamples give their mean a standard error of
    # 23.36, which is half the width of a 68.27 % interval.
    mice = [94, 197, 16, 38, 99, 141, 23]
    low, high = interval([0] * 7, mice, resamples=20_000, level=0.6827)
    assert (high - low) / 2 == pytest.approx(23.36, abs=1)


def test_equal_seed_gives_equal_interval():
    first, second = scores(60, seed=1), scores(60, seed=2)
    assert interval(first, second) == interval(first, second)


def test_changed_places_mirror_the_interval():
    first, second = scores(60, seed=1), scores(60, seed=2, shift=0.2)
    there, back = interval(first, second), interval(second, first)
    assert there.low > 0
    assert back == pytest.approx((-there.high, -there.low))


def test_what_made_a_test_hard_for_both_runs_cancels_out():
    first = scores(200, seed=1)
    second = [score + noise / 20 for score, noise in zip(first, scores(200, seed=2), strict=True)]
    low, high = interval(first, second)
    one = clustered_interval(first, [1] * 200, range(200), seed=7)
    assert high - low < (one.high - one.low) / 10


def test_same_as_the_interval_of_the_differences():
    first, second = scores(300, seed=1), scores(300, seed=2)
    weights, clusters = [1 + n % 3 for n in range(300)], [n // 3 for n in range(300)]
    differences = [b - a for a, b in zip(first, second, strict=True)]
    expected = clustered_interval(differences, weights, clusters, seed=1)
    assert interval(first, second, clusters, weights) == pytest.approx(expected, abs=0.006)


def test_comes_close_to_scipy(scipy_stats):
    first, second = scores(80, seed=1), scores(80, seed=2)
    expected = scipy_stats.bootstrap(
        (first, second),
        lambda a, b, axis: np.mean(b, axis=axis) - np.mean(a, axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert interval(first, second) == pytest.approx(expected, abs=0.01)


def test_five_thousand_clusters_take_less_than_half_a_second():
    first, second = scores(5000, seed=1), scores(5000, seed=2)
    started = process_time()
    interval(first, second)
    assert process_time() - started < 0.5


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="got 2, 1, 2, 2"):
        interval([0, 1], [1])


def test_negative_weight_is_refused():
    with pytest.raises(ValueError, match="got -1"):
        interval([0, 1], [1, 0], weights=[1, -1])


def test_impossible_level_is_refused():
    with pytest.raises(ValueError, match="got 2000, 95"):
        interval([0, 1], [1, 0], level=95)
