from random import Random
from statistics import stdev

import numpy as np
import pytest

from evalhub.statistics.agreement.kappa import confusion, kappa_from_confusion
from tests.evalhub.statistics.bootstrap_of import bootstrap_of


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
