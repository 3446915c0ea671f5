from random import Random
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.mcnemar import mcnemar
from evalhub.statistics.sign_flip import sign_flip

steps = st.sampled_from([-1, 0, 1])

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Heights of 15 crossed less those of 15 self-fertilised plants of maize, in eighths of an inch."""


def test_nothing_compared_is_not_measured():
    assert sign_flip([], seed=1) is None


def test_nothing_with_a_weight_is_not_measured():
    assert sign_flip([1, -1], seed=1, weights=[0, 0]) is None


def test_no_difference_is_no_evidence():
    assert sign_flip([0, 0, 0], seed=1) == 1


def test_every_way_by_hand():
    # ±1 ±2 ±3: of the 8 sums only 6 and -6 are as far out as 6.
    assert sign_flip([1, 2, 3], seed=1) == 2 / 8


def test_published_value():
    # R. A. Fisher (1935), The Design of Experiments, section 21: of the 32768 ways 835 give a sum
    # of 314 or more and 28 of them exactly 314, so 2 · 863 lie as far out: p = 0.05267.
    assert sign_flip(DARWIN, seed=1) == 2 * 863 / 32768


@given(st.lists(steps, max_size=16))
def test_exact_p_of_binary_differences_is_mcnemar(differences):
    expected = mcnemar(differences.count(-1), differences.count(1))
    assert sign_flip(differences, seed=1) == (pytest.approx(expected) if differences else None)


def test_drawn_p_of_binary_differences_comes_close_to_mcnemar():
    differences = [-1] * 30 + [1] * 16 + [0] * 60
    assert sign_flip(differences, seed=1) == pytest.approx(mcnemar(30, 16), abs=0.01)


def test_drawn_p_is_never_0():
    assert sign_flip([1] * 60, seed=1) == 1 / 10_001


def test_ties_of_fractions_are_as_far_out():
    # 0.1 + 0.2 and 0.3 differ by 5.6e-17; ±0.1 ±0.2 ±0.3: 0 is as far out as 0 in each of 8 ways.
    assert sign_flip([0.1, 0.2, -0.3], seed=1) == 1


def test_cluster_flips_as_one():
    # Six tests of one issue and one of another: two units, and 7 or -7 in two of four ways.
    assert sign_flip([1] * 7, seed=1, clusters=["a"] * 6 + ["b"]) == 0.5


def test_cluster_that_cancels_out_is_no_unit():
    differences = [1, -1] * 20 + [1, 1, 1]
    clusters = ["a"] * 40 + ["b", "c", "d"]
    assert sign_flip(differences, seed=1, clusters=clusters) == 2 / 8


def test_weight_counts_as_that_many_differences_of_one_cluster():
    once = sign_flip([1, -1, 1], seed=1, weights=[3, 1, 2])
    often = sign_flip([1, 1, 1, -1, 1, 1], seed=1, clusters=["a", "a", "a", "b", "c", "c"])
    assert once == often


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=12), st.integers(1, 9))
def test_direction_and_unit_do_not_matter(differences, unit):
    p = sign_flip(differences, seed=1)
    assert 0 < p <= 1
    assert sign_flip([-d / unit for d in differences], seed=1) == p


def test_equal_seed_gives_equal_p():
    rng = Random(1)
    differences = [rng.gauss(0.1, 1) for _ in range(50)]
    assert sign_flip(differences, seed=3) == sign_flip(differences, seed=3)


def test_equals_scipy(scipy_stats):
    rng = Random(2)
    for n, tolerance in ((5, 1e-12), (11, 1e-12), (40, 0.015)):
        differences = [rng.gauss(0.3, 1) for _ in range(n)]
        expected = scipy_stats.permutation_test(
            (differences,),
            lambda x, axis: np.mean(x, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=9999,
            rng=np.random.default_rng(1),
        ).pvalue
        assert sign_flip(differences, seed=1) == pytest.approx(expected, abs=tolerance)


def test_five_thousand_tests_take_less_than_a_second():
    rng, started = Random(3), process_time()
    sign_flip([rng.gauss(0, 1) for _ in range(5000)], seed=1)
    assert process_time() - started < 1


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="got 2, 2, 1"):
        sign_flip([1, 2], seed=1, clusters=["a"])


def test_negative_weight_is_refused():
    with pytest.raises(ValueError, match="got -1"):
        sign_flip([1, 2], seed=1, weights=[1, -1])


def test_no_flips_are_refused():
    with pytest.raises(ValueError, match="got 0"):
        sign_flip([1, 2], seed=1, flips=0)
