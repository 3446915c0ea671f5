import random

import pytest

from evalhub.statistics.percentile_interval import percentile, percentile_interval


def test_nearest_rank():
    # 0.9 · 10 = 9: the ninth of ten; 0.9 · 11 = 9.9: the tenth of eleven.
    assert percentile(range(1, 11), 0.9) == 9
    assert percentile(range(1, 12), 0.9) == 10
    assert percentile([7], 0.9) == 7


def test_median_of_ten_by_hand():
    # P(B <= 1) = 11 / 1024 = 1.07 % for B ~ Binomial(10, 0.5), P(B <= 2) = 5.5 %: ranks 2 and 9.
    assert percentile_interval(range(1, 11), 0.5) == (2, 9)


@pytest.mark.parametrize(("n", "is_known"), [(35, False), (36, True)])
def test_a_high_percentile_needs_values_above_it(n, is_known):
    # All of n values lie below the percentile with 0.9^n: 2.50 % at 35, 2.25 % at 36.
    assert (percentile_interval(range(n), 0.9) is not None) == is_known


def test_the_interval_covers_the_percentile():
    # Of 1000 samples of 60 uniform values at least 95 % cover 0.9, less a margin of three
    # standard errors: 3 · √(0.05 · 0.95 / 1000) = 0.021.
    source = random.Random(1)
    covered = 0
    for _ in range(1000):
        found = percentile_interval(sorted(source.random() for _ in range(60)), 0.9)
        covered += found is not None and found.low <= 0.9 <= found.high
    assert covered / 1000 >= 0.929


@pytest.mark.parametrize("share", [0, 1, 1.5])
def test_a_share_outside_0_to_1_is_refused(share):
    with pytest.raises(ValueError, match="between 0 and 1"):
        percentile_interval([1, 2], share)
