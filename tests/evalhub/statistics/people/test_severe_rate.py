"""Issues shown to fail rarely: exact bounds, and how many tests they take."""

from math import log

import pytest
from scipy.stats import beta  # type: ignore[import-untyped]

from evalhub.statistics.people.severe_rate import clean_tests_needed, severe_rate


@pytest.mark.parametrize(("failing", "tests"), [(0, 12), (0, 29), (1, 46), (3, 40), (5, 5)])
def test_bounds_are_exact_and_one_sided(failing, tests):
    low, high = severe_rate(failing, tests, 0.1).bounds

    expected = beta.ppf(0.95, failing + 1, tests - failing) if failing < tests else 1.0
    assert high == pytest.approx(expected)
    assert low == pytest.approx(beta.ppf(0.05, failing, tests - failing + 1) if failing else 0)


@pytest.mark.parametrize(
    ("limit", "needed"), [(0.2, 14), (0.1, 29), (0.05, 59), (0.03, 99), (0.01, 299)]
)
def test_tests_that_show_a_limit_without_a_failure(limit, needed):
    assert severe_rate(0, 12, limit).needed == needed
    assert severe_rate(0, needed, limit).bounds.high <= limit
    assert severe_rate(0, needed - 1, limit).bounds.high > limit


def test_judges_that_miss_failures_show_less():
    people, judges = severe_rate(0, 29, 0.1), severe_rate(0, 29, 0.1, specificity=0.8)

    assert judges.bounds.high == pytest.approx(people.bounds.high / 0.8)
    assert judges.needed == severe_rate(0, 29, 0.08).needed
    assert severe_rate(9, 9, 0.1, specificity=0.8).bounds == (0, 1)
    with pytest.raises(ValueError, match="specificity"):
        severe_rate(0, 9, 0.1, specificity=0)


def test_tests_that_show_an_issue_fixed():
    assert clean_tests_needed(0.3) == 9
    assert 0.7**9 <= 0.05 < 0.7**8
    assert clean_tests_needed(0.95) == 1
    assert clean_tests_needed(0.01) == round(log(0.05) / log(0.99) + 0.5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        clean_tests_needed(1)
