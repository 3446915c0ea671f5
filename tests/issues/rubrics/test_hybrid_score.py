import pytest
from hypothesis import given
from hypothesis import strategies as st

from issues.rubrics.hybrid_score import hybrid

SHARES = st.floats(0, 1)
COSINES = st.none() | st.floats(-1, 1)


@pytest.mark.parametrize("similarity", [0.8, 0, -0.5, None])
def test_without_a_weight_similarity_is_not_looked_at(similarity):
    assert hybrid(0.7, similarity, 0) == 0.7


@pytest.mark.parametrize(
    ("similarity", "weight", "expected"),
    [
        (0.8, 0.25, 0.725),  # 0.75 · 0.7 + 0.25 · 0.8
        (-0.5, 0.5, 0.35),  # below 0 it counts as 0
        (0, 0.5, 0.35),
        (0.8, 1, 0.8),
    ],
)
def test_weight_says_how_much_similarity_counts(similarity, weight, expected):
    assert hybrid(0.7, similarity, weight) == pytest.approx(expected)


def test_where_either_is_not_measured_there_is_no_score():
    assert [hybrid(0.7, None, weight) for weight in (0.1, 1)] == [None] * 2
    assert [hybrid(None, 0.8, weight) for weight in (0, 0.5, 1)] == [None] * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.5, 0.5, 1.5), "weight of similarity from 0 to 1, got 1.5"),
        ((0.5, 0.5, -0.1), "weight of similarity from 0 to 1, got -0.1"),
        ((2, 0.5, 0.5), "score from 0 to 1, got 2"),
        ((0.5, -1.5, 0.5), "similarity from -1 to 1, got -1.5"),
    ],
)
def test_number_out_of_range_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        hybrid(*arguments)


@given(SHARES, COSINES, SHARES)
def test_score_lies_in_range_or_is_none(rubric, similarity, weight):
    found = hybrid(rubric, similarity, weight)
    assert found is None or 0 <= found <= 1


@given(SHARES, SHARES, COSINES, SHARES)
def test_better_rubric_never_lowers_the_score(one, other, similarity, weight):
    worse = hybrid(min(one, other), similarity, weight)
    better = hybrid(max(one, other), similarity, weight)
    assert (worse is None and better is None) or worse <= better
