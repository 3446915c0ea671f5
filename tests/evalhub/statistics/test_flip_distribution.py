from itertools import product
from random import Random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.flip_distribution import flipped_p, least_p, terms_needed
from evalhub.statistics.mcnemar import mcnemar
from evalhub.statistics.sign_flip import sign_flip


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
def test_real_numbers_are_near_enumeration(terms):
    assert 0 < flipped_p(terms) <= 1


def test_random_real_numbers_are_near_enumeration():
    rng = Random(1)
    for _ in range(50):
        terms = [rng.gauss(0.3, 1) for _ in range(rng.randint(8, 14))]
        assert flipped_p(terms) == pytest.approx(sign_flip(terms, seed=1), abs=0.01)


def test_single_answers_equal_mcnemar():
    assert flipped_p([1] * 30 + [-1] * 16) == pytest.approx(mcnemar(30, 16), rel=1e-9)


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
