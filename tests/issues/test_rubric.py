import pytest
from hypothesis import given
from hypothesis import strategies as st

from issues.rubric import Point, consensus, coverage, inverted, score_of

VALUES = st.none() | st.floats(0, 1)
POINTS = st.lists(
    st.builds(
        Point,
        key=st.sampled_from("abc"),
        value=VALUES,
        weight=st.floats(0.1, 10),
        inverted=st.booleans(),
    )
)


def test_consensus_is_the_mean_of_those_that_answered():
    # (1 + 0) / 2; the failed judge is no vote.
    assert consensus([1, None, 0]) == 0.5


@pytest.mark.parametrize("values", [[], [None, None]])
def test_consensus_without_an_answer_is_not_measured(values):
    assert consensus(values) is None


def test_consensus_is_not_rounded():
    assert consensus([1, 1, 0]) == pytest.approx(2 / 3, abs=1e-15)


def test_coverage_counts_answers():
    assert coverage([1, None, 0]) == (2, 3)


def test_coverage_of_nothing_expected_has_no_share():
    assert coverage([]).share is None


def test_coverage_share():
    assert coverage([None, 1, 1, 0]).share == 0.75


def test_score_weighs_the_points():
    # (3 · 1 + 1 · 0) / 4
    assert score_of([Point("a", 1, 3), Point("b", 0, 1)]) == 0.75


def test_point_without_a_value_takes_its_weight_with_it():
    assert score_of([Point("a", 1, 1), Point("b", None, 9)]) == 1


def test_should_not_is_inverted():
    # (0.25 + (1 - 1)) / 2
    assert score_of([Point("a", 0.25), Point("b", 1, inverted=True)]) == 0.125


@pytest.mark.parametrize("points", [[], [Point("", None)], [Point("a", None), Point("b", None)]])
def test_nothing_scored_is_no_score(points):
    assert score_of(points) is None


def test_whole_test_passes_through_whatever_its_weight():
    assert score_of([Point("", 0.5, 7)]) == 0.5


def test_verdict_on_the_whole_test_outranks_criteria():
    assert score_of([Point("a", 1), Point("", 0)]) == 0


def test_unasked_whole_test_leaves_the_score_to_the_criteria():
    assert score_of([Point("", None), Point("a", 1)]) == 1


@given(POINTS)
def test_score_is_in_range_or_not_measured(points):
    score = score_of(points)
    assert score is None or -1e-12 <= score <= 1 + 1e-12


@given(POINTS, st.randoms(use_true_random=False))
def test_order_of_points_does_not_matter(points, random):
    shuffled = random.sample(points, len(points))
    assert score_of(shuffled) == pytest.approx(score_of(points))


@given(VALUES)
def test_inversion_twice_changes_nothing(value):
    assert inverted(inverted(value)) == pytest.approx(value)
