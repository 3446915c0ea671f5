from random import Random
from time import process_time

import pytest

from evalhub.statistics.bootstrap import clustered_interval
from evalhub.statistics.wilson import wilson_interval


def passes(n, *, share=0.6, seed=1):
    rng = Random(seed)
    return [float(rng.random() < share) for _ in range(n)]


def interval(values, clusters, weights=None, **options):
    return clustered_interval(values, weights or [1] * len(values), clusters, seed=7, **options)


def test_one_cluster_has_no_interval():
    assert interval([0, 1, 1], ["a", "a", "a"]) is None


def test_cluster_without_weight_is_no_cluster():
    assert interval([0, 1], ["a", "b"], weights=[1, 0]) is None


def test_clusters_that_all_agree_have_no_interval():
    assert interval([0.3, 0.3, 0.3], ["a", "b", "c"]) is None


def test_two_opposite_clusters_span_everything():
    # A resample is aa, ab, ba or bb: means 0, 0.5, 0.5, 1; a quarter of them lie at either end.
    assert interval([0, 1], ["a", "b"]) == (0, 1)


def test_equal_seed_gives_equal_interval():
    values = passes(60)
    assert interval(values, range(60)) == interval(values, range(60))


def test_single_results_come_close_to_wilson():
    values = passes(400)
    expected = wilson_interval(int(sum(values)), 400)
    assert interval(values, range(400)) == pytest.approx(expected, abs=0.01)


def test_results_that_fail_together_widen_the_interval():
    # 40 clusters of 10 equal values hold the news of 40 results, not of 400: about √10 as wide.
    single = passes(40)
    values = [value for value in single for _ in range(10)]
    together = interval(values, [n // 10 for n in range(400)])
    alone = interval(values, range(400))
    assert (together.high - together.low) / (alone.high - alone.low) == pytest.approx(
        10**0.5, rel=0.15
    )


def test_weights_move_the_interval():
    values, clusters = [0, 1] * 20, range(40)
    heavy = interval(values, clusters, weights=[1, 9] * 20)
    assert heavy.low < 0.9 < heavy.high


def test_grouping_of_many_clusters_keeps_the_width():
    values = passes(5000)
    grouped = interval(values, range(5000))
    expected = wilson_interval(int(sum(values)), 5000)
    assert grouped == pytest.approx(expected, abs=0.003)


def test_ten_thousand_results_take_less_than_half_a_second():
    values, started = passes(10_000), process_time()
    interval(values, range(10_000))
    assert process_time() - started < 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [({"resamples": 0}, "got 0, 0.95"), ({"level": 1}, "got 2000, 1")],
)
def test_impossible_option_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        interval([0, 1], ["a", "b"], **options)


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="got 2, 2, 1"):
        interval([0, 1], ["a"])


def test_negative_weight_is_refused():
    with pytest.raises(ValueError, match="got -1"):
        interval([0, 1], ["a", "b"], weights=[1, -1])


def test_resamples_are_those_of_pythons_own_generator():
    # Drawn many at a time, and yet what `rng.choices` would draw one after the other.
    values, rng = passes(30), Random(7)
    drawn = sorted(sum(rng.choices(values, k=30)) / 30 for _ in range(101))
    found = interval(values, range(30), resamples=101, level=0.9)
    assert found == pytest.approx((drawn[5], drawn[95]))
