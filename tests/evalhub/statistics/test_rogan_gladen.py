from statistics import fmean
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.judges.rogan_gladen import Calibrated, corrected_interval, corrected_rate
from tests.evalhub.statistics.bootstrap_of import bootstrap_of

shares = st.floats(0, 1)


def judged(truth, rng, *, sensitivity, specificity):
    """Return the judge's pass rate of answers that truly passed or not."""
    lot = rng.random(len(truth))
    return np.where(truth, lot < sensitivity, lot > specificity)


def calibration(m, *, seed=1, rate=0.7, sensitivity=0.9, specificity=0.8):
    rng = np.random.default_rng(seed)
    truth = rng.random(m) < rate
    judge = judged(truth, rng, sensitivity=sensitivity, specificity=specificity)
    return [Calibrated(bool(judge[n]), bool(truth[n]), n) for n in range(m)]


def interval(values, sample, clusters=None, weights=None, **options):
    clusters = range(len(values)) if clusters is None else clusters
    weights = [1] * len(values) if weights is None else weights
    return corrected_interval(values, weights, clusters, sample, seed=7, **options)


@pytest.mark.parametrize(
    ("rate", "sensitivity", "specificity", "corrected"),
    [
        # (0.65 + 0.9 - 1) / (0.8 + 0.9 - 1) = 0.55 / 0.7
        (0.65, 0.8, 0.9, pytest.approx(0.55 / 0.7)),
        # M. Stevenson and others, epiR, epi.prev: of 150 cows 23 test positive for brucellosis,
        # with a sensitivity of 96 % and a specificity of 89 %: the true prevalence is 5.1 in 100.
        (23 / 150, 0.96, 0.89, pytest.approx(0.051, abs=0.0005)),
        # Below the false passes none passed, above the true passes all did.
        *((0.05, 0.9, 0.9, 0), (0.95, 0.9, 0.9, 1)),
        # A judge no better than a coin, or unknown, corrects nothing.
        *((0.4, 0.5, 0.5, None), (0.4, 0.3, 0.6, None), (0.4, 0.1, 0.9, None)),
        *((None, 0.9, 0.9, None), (0.5, None, 0.9, None), (0.5, 0.9, None, None)),
    ],
)
def test_known_values(rate, sensitivity, specificity, corrected):
    assert corrected_rate(rate, sensitivity, specificity) == corrected


@given(shares, st.floats(0.55, 1), st.floats(0.55, 1))
def test_what_a_judge_makes_of_a_true_rate_is_undone(true_rate, sensitivity, specificity):
    found = true_rate * sensitivity + (1 - true_rate) * (1 - specificity)
    assert corrected_rate(min(1, found), sensitivity, specificity) == pytest.approx(
        true_rate, abs=1e-6
    )


@given(shares)
def test_faultless_judge_is_not_corrected(rate):
    assert corrected_rate(rate, 1, 1) == pytest.approx(rate)


def test_impossible_share_is_refused():
    with pytest.raises(ValueError, match=r"got 65, 0\.8, 0\.9"):
        corrected_rate(65, 0.8, 0.9)


def test_interval_holds_the_true_rate_about_nineteen_times_in_twenty():
    rng, held = np.random.default_rng(5), 0
    for seed in range(200):
        truth = rng.random(150) < 0.7
        values = judged(truth, rng, sensitivity=0.9, specificity=0.8).astype(float)
        found = interval(list(values), calibration(80, seed=seed), resamples=400)
        held += found.low <= 0.7 <= found.high
    assert 0.92 <= held / 200 <= 0.99


def test_little_calibration_widens_the_interval():
    values = [1.0, 1.0, 0.0] * 100
    little, much = (interval(values, calibration(m)) for m in (40, 4000))
    assert little.high - little.low > 1.5 * (much.high - much.low)


def test_much_calibration_leaves_the_spread_of_the_run():
    # With rates known almost exactly the interval is that of the raw rate, by 1 / (se + sp - 1).
    values = [1.0, 1.0, 0.0] * 100
    found = interval(values, calibration(10_000))
    raw = bootstrap_of(fmean, values, range(300), seed=7)
    assert found.high - found.low == pytest.approx((raw.high - raw.low) / 0.7, rel=0.08)


def test_judge_without_errors_in_a_small_sample_is_not_perfect():
    values = [1.0, 1.0, 0.0] * 300
    sample = calibration(20, sensitivity=1, specificity=1)
    raw = bootstrap_of(fmean, values, range(900), seed=7)
    found = interval(values, sample)
    assert found.high - found.low > 2 * (raw.high - raw.low)


def test_answers_calibrated_together_widen_the_interval():
    values, sample = [1.0, 0.0] * 100, calibration(200)
    alike = sorted(sample, key=lambda row: row[:2])
    together = [row._replace(cluster=n // 10) for n, row in enumerate(alike)]
    apart, found = interval(values, sample), interval(values, together)
    assert found.high - found.low > 1.5 * (apart.high - apart.low)


@pytest.mark.parametrize(
    "sample",
    [
        [],
        [Calibrated(True, True, "a"), Calibrated(False, False, "a")],
        [Calibrated(True, True, n) for n in range(9)],
        [Calibrated(n % 2 == 0, n % 4 < 2, n) for n in range(40)],
    ],
    ids=["none", "one cluster", "nothing failed", "coin"],
)
def test_calibration_that_tells_nothing_gives_no_interval(sample):
    assert interval([1.0, 0.0, 1.0], sample) is None


def test_judge_hardly_better_than_a_coin_gives_no_interval():
    # se = sp = 0.55 from 40 answers: in far more than 5 % of the resamples se + sp <= 1.
    sample = [Calibrated((n % 20 < 11) == (n < 20), n < 20, n) for n in range(40)]
    assert interval([1.0, 0.0, 1.0], sample) is None


@pytest.mark.parametrize("clusters", [["a", "a", "a"], ["a", "b", "c"]])
def test_run_without_a_spread_gives_no_interval(clusters):
    assert interval([1.0, 1.0, 1.0], calibration(60), clusters) is None


@pytest.mark.parametrize(("issues", "has_interval"), [(4, False), (5, True)])
def test_fewer_than_five_issues_of_run_or_calibration_have_no_interval(issues, has_interval):
    values, sample = [1.0] * 31 + [0.0] * 29, calibration(60)
    of_run = interval(values, sample, [n % issues for n in range(60)])
    together = [row._replace(cluster=n % issues) for n, row in enumerate(sample)]
    of_calibration = interval(values, together)
    assert (of_run is not None, of_calibration is not None) == (has_interval, has_interval)


def test_equal_seed_gives_equal_interval():
    values, sample = [1.0, 0.0, 1.0] * 20, calibration(60)
    assert interval(values, sample) == interval(values, sample)


def test_five_thousand_results_take_less_than_a_second():
    values, sample, started = [1.0, 1.0, 0.0, 1.0] * 1250, calibration(500), process_time()
    interval(values, sample)
    assert process_time() - started < 1


def test_negative_weight_is_refused():
    with pytest.raises(ValueError, match="got -1"):
        interval([0, 1], calibration(9), weights=[1, -1])


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="got 2, 2, 1"):
        interval([0, 1], calibration(9), clusters=["a"])
