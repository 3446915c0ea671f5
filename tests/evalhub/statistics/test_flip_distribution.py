from itertools import product
from random import Random
from time import process_time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalhub.statistics.changes.flip_distribution import flipped_p, least_p, terms_needed

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Heights of 15 crossed less those of 15 self-fertilised plants of maize, in eighths of an inch."""


def by_enumeration(terms):
    seen = abs(sum(terms))
    sums = [
        abs(sum(sign * term for sign, term in zip(signs, terms, strict=True)))
        for signs in product((-1, 1), repeat=len(terms))
    ]
    return sum(one >= seen - 1e-9 for one in sums) / len(sums)


@given(st.lists(st.integers(-5, 5), max_size=9))
def test_whole_numbers_equal_enumeration(terms):
    assert flipped_p(terms) == pytest.approx(by_enumeration(terms), rel=1e-9)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=9))
@example([5e-324, -1e-323, 2.5e-308])
@example([1e-170, -2.2360679775e-170, 3.1415926536e-170])
def test_real_numbers_are_near_enumeration(terms):
    assert 0 < flipped_p(terms) <= 1


def test_random_real_numbers_are_near_enumeration():
    rng = Random(1)
    for _ in range(50):
        terms = [rng.gauss(0.3, 1) for _ in range(rng.randint(8, 14))]
        assert flipped_p(terms) == pytest.approx(by_enumeration(terms), abs=0.01)


def test_published_value():
    # R. A. Fisher (1935), The Design of Experiments, section 21: of the 32768 ways 835 give a sum
    # of 314 or more and 28 of them exactly 314, so 2 · 863 lie as far out: p = 0.05267.
    assert flipped_p(DARWIN) == pytest.approx(2 * 863 / 32768)


def test_single_answers_by_hand():
    # 2 or fewer of 10: (1 + 10 + 45) / 1024, twice: 0.109375.
    assert flipped_p([-1] * 8 + [1] * 2) == pytest.approx(0.109375)


def test_published_value_of_single_answers():
    # A. Agresti (1990), Categorical Data Analysis, approval of the prime minister in two surveys:
    # 86 and 150 discordant of 1600. Its z² = 17.36; the exact p as R's binom.test(86, 236) has it.
    assert flipped_p([1] * 86 + [-1] * 150) == pytest.approx(3.716e-05, rel=1e-3)


def test_single_answers_equal_statsmodels(contingency_tables):
    rng = Random(1)
    for _ in range(60):
        worse, better = rng.randint(1, 400), rng.randint(0, 400)
        expected = contingency_tables.mcnemar([[9, worse], [better, 9]], exact=True).pvalue
        assert flipped_p([-1] * worse + [1] * better) == pytest.approx(expected, rel=1e-9)


def test_whole_issues_of_very_different_sizes_are_not_rounded():
    # 100, 3, 2 and 1 one way: of the 16 sums only ±106 are as far out; 2 against 3 - 1 is a tie.
    assert flipped_p([100, 3, 2, 1]) == 2 / 16
    assert flipped_p([100, 3, -2, -1]) == pytest.approx(by_enumeration([100, 3, -2, -1]))


def test_equals_scipy(scipy_stats):
    rng = Random(2)
    for n, tolerance in ((11, 0.005), (40, 0.015)):
        differences = [rng.gauss(0.3, 1) for _ in range(n)]
        expected = scipy_stats.permutation_test(
            (differences,),
            lambda x, axis: np.mean(x, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=9999,
            rng=np.random.default_rng(1),
        ).pvalue
        assert flipped_p(differences) == pytest.approx(expected, abs=tolerance)


def test_p_of_one_sign_is_as_small_as_can_be():
    assert flipped_p([0.1] * 60) == least_p(60) == 2 / 2**60


def test_p_of_unequal_terms_of_one_sign_is_as_small():
    assert flipped_p([0.1, 0.23, 0.31, 0.4, 0.57, 0.61, 0.73]) == 2 / 2**7


@pytest.mark.parametrize("terms", [[], [0, 0], [1, -1]])
def test_no_difference_is_no_surprise(terms):
    assert flipped_p(terms) == 1


@given(st.lists(st.integers(-3, 3), max_size=30), st.sampled_from([0.001, 1, 7]))
def test_neither_unit_nor_direction_matters(terms, unit):
    assert flipped_p([-unit * term for term in terms]) == pytest.approx(flipped_p(terms))


def test_many_terms_continue_few_ones():
    rng = Random(2)
    terms = [rng.gauss(0.04, 1) for _ in range(2000)]
    assert flipped_p([*terms, 1e-6]) == pytest.approx(flipped_p(terms), rel=0.05)


@pytest.mark.parametrize("n", [1900, 5000])
def test_overwhelming_evidence_keeps_a_positive_p(n):
    assert 0 < flipped_p([1.0] * n) < 1e-100


def test_huge_counts_are_exact_and_quick():
    started = process_time()
    # z = 1000 / √1000000 = 1: 0.3173 by the normal distribution, 0.3178 exactly.
    p = flipped_p(np.repeat([1.0, -1.0], [499_500, 500_500]))
    assert p == pytest.approx(0.3178, abs=1e-4)
    assert process_time() - started < 0.2


def test_two_thousand_terms_take_less_than_a_tenth_of_a_second():
    rng, started = Random(3), process_time()
    flipped_p([rng.gauss(0, 1) for _ in range(2000)])
    assert process_time() - started < 0.1


@pytest.mark.parametrize(("comparisons", "needed"), [(1, 6), (3, 7), (10, 9), (780, 15)])
def test_terms_needed_by_hand(comparisons, needed):
    assert terms_needed(comparisons) == needed
    assert least_p(needed) * comparisons <= 0.05 < least_p(needed - 1) * comparisons


def test_no_comparison_is_refused():
    with pytest.raises(ValueError, match="got 0"):
        terms_needed(0)
