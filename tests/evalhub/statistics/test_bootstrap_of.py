from random import Random
from statistics import fmean, stdev
from time import process_time

import numpy as np
import pytest

from evalhub.statistics.bootstrap import clustered_interval
from evalhub.statistics.bootstrap_of import bootstrap_of
from evalhub.statistics.kappa import confusion, kappa_from_confusion


def interval(statistic, rows, clusters=None, **options):
    clusters = range(len(rows)) if clusters is None else clusters
    return bootstrap_of(statistic, rows, clusters, **{"seed": 7, "resamples": 1000, **options})


def kappa(rows):
    counts = confusion([judge for judge, _ in rows], [people for _, people in rows])
    return kappa_from_confusion(counts)


def verdicts(n, *, wrong=0.15):
    rng = Random(1)
    truth = [rng.random() < 0.5 for _ in range(n)]
    return [(verdict ^ (rng.random() < wrong), verdict) for verdict in truth]


def test_mean_has_the_interval_of_the_mean():
    rng = Random(2)
    values, clusters = [rng.random() for _ in range(300)], [n // 3 for n in range(300)]
    expected = clustered_interval(values, [1] * 300, clusters, seed=1)
    assert interval(fmean, values, clusters) == pytest.approx(expected, abs=0.006)


def test_published_value():
    # B. Efron, R. J. Tibshirani (1993), An Introduction to the Bootstrap, tables 3.1 and 6.1: for
    # the correlation of LSAT and GPA in 15 law schools, 3200 resamples find a standard error of
    # 0.132.
    lsat = [576, 635, 558, 578, 666, 580, 555, 661, 651, 605, 653, 575, 545, 572, 594]
    gpa = [339, 330, 281, 303, 344, 307, 300, 343, 336, 313, 312, 274, 276, 288, 296]
    schools = list(zip(lsat, gpa, strict=True))
    drawn = []

    def correlation(rows):
        drawn.append(float(np.corrcoef(np.array(rows).T)[0, 1]))
        return drawn[-1]

    assert correlation(schools) == pytest.approx(0.776, abs=5e-4)
    interval(correlation, schools, resamples=3200)
    assert stdev(drawn[2:]) == pytest.approx(0.132, abs=0.005)


def test_kappa_comes_close_to_its_large_sample_interval():
    # J. L. Fleiss, J. Cohen, B. S. Everitt (1969), doi:10.1037/h0028106, for a symmetric table of
    # half and half: se = √(po (1 - po) / n) / (1 - 1/2) = 2 √(0.85 · 0.15 / 400) = 0.0357.
    low, high = interval(kappa, verdicts(400))
    assert (high - low) / 2 / 1.96 == pytest.approx(0.0357, rel=0.1)


def test_rows_of_one_cluster_come_together():
    single = verdicts(40)
    rows = [row for row in single for _ in range(10)]
    together = interval(kappa, rows, [n // 10 for n in range(400)])
    alone = interval(kappa, rows)
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_undefined_statistic_has_no_interval():
    assert interval(lambda rows: None, [1, 2, 3]) is None


def test_few_undefined_resamples_are_left_out():
    # None of the upper five rows is drawn in (1/2)^10 = 0.1 % of the resamples.
    def needs_an_upper_one(rows):
        return fmean(rows) if max(rows) > 5 else None

    assert interval(needs_an_upper_one, range(1, 11)) is not None


def test_many_undefined_resamples_leave_no_interval():
    # The last row is not drawn in 0.9^10 = 35 % of the resamples.
    def needs_the_last(rows):
        return fmean(rows) if 10 in rows else None

    assert interval(needs_the_last, range(1, 11)) is None


def test_statistic_that_is_always_undefined_when_drawn_has_no_interval():
    rows = [1, 2, 3]
    assert interval(lambda drawn: 1.0 if drawn is rows else None, rows) is None


def test_statistic_without_a_spread_has_no_interval():
    assert interval(kappa, [(True, True), (False, False)] * 20) is None


@pytest.mark.parametrize("rows", [[], [1], [1, 2, 3]])
def test_fewer_than_two_clusters_have_no_interval(rows):
    assert interval(sum, rows, ["a"] * len(rows)) is None


def test_equal_seed_gives_equal_interval():
    rows = verdicts(50)
    assert interval(kappa, rows) == interval(kappa, rows)
    assert interval(kappa, rows) != interval(kappa, rows, seed=8)


def test_a_thousand_verdicts_take_less_than_two_seconds():
    rows, started = verdicts(1000), process_time()
    interval(kappa, rows, resamples=2000)
    assert process_time() - started < 2


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="expected rows and clusters of one length, got 2, 1"):
        interval(sum, [1, 2], "a")


def test_no_resamples_are_refused():
    with pytest.raises(ValueError, match=r"got 0, 0\.95"):
        interval(sum, [1, 2], resamples=0)
