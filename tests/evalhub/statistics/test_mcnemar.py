from random import Random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.mcnemar import mcnemar


def test_no_discordant_pair_is_no_evidence():
    assert mcnemar(0, 0) == 1


def test_known_value():
    # 2 or fewer of 10: (1 + 10 + 45) / 1024, twice: 0.109375.
    assert mcnemar(8, 2) == pytest.approx(0.109375)


def test_published_value():
    # A. Agresti (1990), Categorical Data Analysis, approval of the prime minister in two surveys:
    # 86 and 150 discordant of 1600. Its z² = 17.36; the exact p as R's binom.test(86, 236) has it.
    assert mcnemar(86, 150) == pytest.approx(3.716e-05, rel=1e-3)


@pytest.mark.parametrize(("discordant", "significant"), [(5, False), (6, True)])
def test_six_one_sided_pairs_are_the_fewest_for_significance(discordant, significant):
    assert (mcnemar(discordant, 0) < 0.05) is significant


@given(st.integers(0, 300), st.integers(0, 300))
def test_which_run_is_first_does_not_matter(worse, better):
    p = mcnemar(worse, better)
    assert p == mcnemar(better, worse)
    assert 0 < p <= 1


@given(st.integers(0, 300))
def test_even_split_is_no_evidence(count):
    assert mcnemar(count, count) == 1


def test_equals_statsmodels(contingency_tables):
    rng = Random(1)
    for _ in range(60):
        worse, better = rng.randint(0, 400), rng.randint(0, 400)
        expected = contingency_tables.mcnemar([[9, worse], [better, 9]], exact=True).pvalue
        assert mcnemar(worse, better) == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_huge_counts_are_quick_and_do_not_overflow():
    started = process_time()
    # z = 1000 / √1000000 = 1: 0.3173 by the normal distribution.
    assert mcnemar(499_500, 500_500) == pytest.approx(0.3178, abs=1e-3)
    assert mcnemar(0, 1_000_000) == 0
    assert process_time() - started < 0.1


def test_negative_count_is_refused():
    with pytest.raises(ValueError, match="got -1, 3"):
        mcnemar(-1, 3)
