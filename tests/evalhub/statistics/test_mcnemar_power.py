from math import ceil, sqrt
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhub.statistics.changes.flip_distribution import flipped_p
from evalhub.statistics.changes.mcnemar_power import detectable_by_mcnemar


def half_points(change):
    """Round the change up to half points."""
    return ceil(200 * change) / 2


@pytest.mark.parametrize(
    ("discordance", "points"), [(0.15, [13.5, 11, 8, 6]), (0.25, [18, 14.5, 10.5, 7.5])]
)
def test_known_values(discordance, points):
    found = [half_points(detectable_by_mcnemar(n, discordance)) for n in (64, 100, 200, 400)]
    assert found == points


def test_all_discordant_by_hand():
    # Of 6 discordant tests only 0 : 6 has p <= 0.05, so θ^6 + (1 - θ)^6 = 0.8: θ = 0.963493.
    theta = 0.5 + detectable_by_mcnemar(6, 1) / 2
    assert theta**6 + (1 - theta) ** 6 == pytest.approx(0.8, abs=1e-5)


@pytest.mark.parametrize(("n", "discordance"), [(5, 1), (200, 0.02), (0, 0.5), (80, 0)])
def test_fewer_than_six_discordant_tests_find_nothing(n, discordance):
    assert detectable_by_mcnemar(n, discordance) is None


def p_of(worse, better):
    return flipped_p([-1] * worse + [1] * better)


def power_by_enumeration(n, discordance, change, stats):
    """Σ over discordant m and worse w of their chance, where McNemar's own p is at most 0.05."""
    total = 0.0
    for m in range(1, n + 1):
        w = [w for w in range(m + 1) if p_of(w, m - w) <= 0.05]
        lost = stats.binom.pmf(w, m, 0.5 - change / discordance / 2).sum()
        total += stats.binom.pmf(m, n, discordance) * lost
    return total


@pytest.mark.parametrize(("n", "discordance"), [(20, 0.5), (64, 0.15), (40, 1), (90, 0.3)])
def test_power_enumerated_with_scipy_is_reached_there_and_not_before(n, discordance, scipy_stats):
    change = detectable_by_mcnemar(n, discordance)
    assert power_by_enumeration(n, discordance, change, scipy_stats) == pytest.approx(0.8, abs=1e-4)
    before = power_by_enumeration(n, discordance, change - 1e-4, scipy_stats)
    assert before < 0.8


def test_comes_close_to_the_normal_approximation_where_there_are_many():
    # R. J. Connor (1987), Biometrics 43, 207-211: z_a √d + z_b √(d - δ²) = δ √n.
    change = detectable_by_mcnemar(5000, 0.25)
    assert 1.959964 * 0.5 + 0.841621 * sqrt(0.25 - change**2) == pytest.approx(
        change * sqrt(5000), rel=0.02
    )


@settings(max_examples=40)
@given(st.integers(1, 400), st.floats(0.02, 1), st.floats(0.5, 0.9))
def test_more_power_needs_a_larger_change(n, discordance, power):
    change = detectable_by_mcnemar(n, discordance, power=power)
    more = detectable_by_mcnemar(n, discordance, power=power + 0.05)
    assert more is None or 0 < change <= more <= discordance


def test_simulated_runs_find_it_four_times_in_five():
    rng = np.random.default_rng(1)
    change = detectable_by_mcnemar(150, 0.3)
    counts = rng.multinomial(150, [0.15 - change / 2, 0.15 + change / 2, 0.7], size=4000)
    found = sum(p_of(int(worse), int(better)) <= 0.05 for worse, better, _ in counts)
    assert found / 4000 == pytest.approx(0.8, abs=0.02)


def test_five_thousand_tests_take_less_than_fifty_milliseconds():
    started = process_time()
    detectable_by_mcnemar(5000, 0.5)
    assert process_time() - started < 0.05


@pytest.mark.parametrize(("tests", "discordance"), [(-1, 0.2), (10, 15)])
def test_impossible_suite_is_refused(tests, discordance):
    with pytest.raises(ValueError, match=f"got {tests}, {discordance}"):
        detectable_by_mcnemar(tests, discordance)


def test_impossible_power_is_refused():
    with pytest.raises(ValueError, match="power=80"):
        detectable_by_mcnemar(9, 0.5, power=80)
