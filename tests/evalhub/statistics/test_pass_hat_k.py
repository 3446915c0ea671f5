from itertools import combinations

import numpy as np
import pytest

from evalhub.statistics.rates.pass_hat_k import pass_hat_k
from evalhub.statistics.rates.rate_interval import mean_interval


def test_it_is_the_share_of_choices_of_k_answers_that_all_pass():
    rng = np.random.default_rng(1)
    answers = [rng.random(int(rng.integers(3, 7))) < 0.7 for _ in range(12)]
    shares = [np.mean([all(some) for some in combinations(one, 3)]) for one in answers]
    issues = [place // 2 for place in range(12)]
    found = pass_hat_k(
        [int(one.sum()) for one in answers], [len(one) for one in answers], issues, 3
    )

    assert found is not None
    assert found.rate == pytest.approx(np.mean(shares))
    sums = [(shares[n] + shares[n + 1], 2.0) for n in range(0, 12, 2)]
    assert found.interval == pytest.approx(mean_interval(sums))
    assert not found.is_enough


def test_tests_with_fewer_repeats_are_left_out():
    assert pass_hat_k([2, 1], [2, 1], [1, 2], 2) == pass_hat_k([2], [2], [1], 2)
    assert pass_hat_k([1], [1], [1], 2) is None
    assert pass_hat_k([], [], [], 1) is None


@pytest.mark.parametrize(
    ("tests", "repeats", "is_enough"), [(30, 5, True), (29, 5, False), (30, 4, False)]
)
def test_it_is_shown_from_two_more_repeats_and_30_tests_on(tests, repeats, is_enough):
    found = pass_hat_k([repeats] * tests, [repeats] * tests, range(tests), 3)

    assert found is not None
    assert found.is_enough == is_enough


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="1 or more"):
        pass_hat_k([1], [1], [1], 0)
    with pytest.raises(ValueError, match="one length"):
        pass_hat_k([1], [1, 2], [1], 1)
