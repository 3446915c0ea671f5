import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.deviation import is_split, population_deviation, sample_deviation
from evalhub.statistics.weighted_mean import weighted_mean
from issues.rubrics.hybrid_score import hybrid

VALUES = st.lists(st.none() | st.floats(0, 1), max_size=9)


# Judges of one criterion -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "expected", "split"),
    [
        ([0.5, 0.5], 0, False),
        ([0, 0.5], 0.25, False),
        # mean 2/3: (0.4167² + 0.0833² + 0.3333²) / 3 = 0.09722
        ([0.25, 0.75, 1], 0.31180478, True),
        ([0, 1], 0.5, True),
    ],
)
def test_deviation_of_judges(values, expected, split):
    found = population_deviation(values)
    assert found == pytest.approx(expected)
    assert is_split(found) is split


@pytest.mark.parametrize("values", [[], [1], [1, None], [None, None]])
def test_one_judge_cannot_disagree(values):
    assert population_deviation(values) is None
    assert not is_split(population_deviation(values))


def test_judge_without_a_value_is_left_out():
    assert population_deviation([0, None, 0.5]) == population_deviation([0, 0.5])


def test_exactly_on_the_line_is_not_split():
    # 0.2 and 0.8 deviate by 0.3, in floating point by a little more.
    assert population_deviation([0.2, 0.8]) > 0.3
    assert not is_split(population_deviation([0.2, 0.8]))


@given(VALUES)
def test_inversion_changes_nothing(values):
    turned = [None if value is None else 1 - value for value in values]
    assert population_deviation(turned) == pytest.approx(population_deviation(values), abs=1e-9)


@given(VALUES)
def test_deviation_of_shares_is_at_most_a_half(values):
    found = population_deviation(values)
    assert found is None or 0 <= found <= 0.5 + 1e-12


@given(VALUES, st.randoms())
def test_order_of_judges_does_not_matter(values, random):
    mixed = random.sample(values, len(values))
    assert population_deviation(mixed) == pytest.approx(population_deviation(values))


# Scores of one run -------------------------------------------------------------------------------

RUBRICS = {"first": [0.7, 0.8], "second": [0.5, 0.4]}
"""Scores of two models on the same two tests."""


@pytest.mark.parametrize(
    ("model", "weights", "expected"),
    [
        ("first", [1, 1], 0.75),
        ("second", [1, 1], 0.45),
        ("first", [2, 0.5], 0.72),  # (2 · 0.7 + 0.5 · 0.8) / 2.5
        ("second", [2, 0.5], 0.48),  # (2 · 0.5 + 0.5 · 0.4) / 2.5
    ],
)
def test_score_of_a_run_goes_by_the_weights_of_its_tests(model, weights, expected):
    scores = [hybrid(score, None, 0) for score in RUBRICS[model]]
    assert weighted_mean(scores, weights) == pytest.approx(expected)


@pytest.mark.parametrize("values", [*RUBRICS.values(), [0.8, 0.9], [0.6, 0.5]])
def test_deviation_between_tests(values):
    # Each of two lies 0.05 from their mean: √(2 · 0.05² / 1)
    assert sample_deviation(values) == pytest.approx(0.0707107)


@pytest.mark.parametrize("values", [[], [0.5], [0.5, None]])
def test_one_test_does_not_deviate(values):
    assert sample_deviation(values) is None
