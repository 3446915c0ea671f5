from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from issues.rubrics.breakdown import breakdown_of
from issues.rubrics.scoring import Point, score_of

SCORES = st.none() | st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1)


@st.composite
def rubrics(draw):
    return [
        Point(
            f"k{n}",
            draw(SCORES),
            draw(st.floats(0.1, 10)),
            draw(st.booleans()),
            alternative := draw(st.none() | st.integers(1, 3)),
            alternative is None and draw(st.booleans()),
        )
        for n in range(draw(st.integers(0, 6)))
    ]


@given(rubrics())
def test_shares_and_scores_add_up_to_the_score(points):
    found = breakdown_of(points)

    assert found.score == score_of(points)
    if found.lost:
        assert found.score is None
    elif found.unmet:
        assert found.score == 0
    else:
        assert found.mean == (None if found.score is None else pytest.approx(found.score))
    if found.shares:
        assert fsum(found.shares.values()) == pytest.approx(1)


def test_the_best_way_to_succeed_and_the_worst_to_fail_count():
    points = [
        Point("a", 0.5, alternative=1),
        Point("b", 1.0, alternative=2),
        Point("c", 0.25, alternative=1, inverted=True),
        Point("d", 1.0, alternative=2, inverted=True),
    ]
    alternatives = {
        (alternative.is_fault, alternative.number): (alternative.score, alternative.counts)
        for alternative in breakdown_of(points).alternatives
    }

    assert alternatives == {
        (False, 1): (0.5, False),
        (False, 2): (1.0, True),
        (True, 1): (0.75, False),
        (True, 2): (0.0, True),
    }
    assert breakdown_of(points).shares == {"b": 0.5, "d": 0.5}


def test_a_way_is_one_point_of_weight_one_among_the_required():
    # The required point weighs 3 and the way 1; in it 2 and 2.
    points = [
        Point("must", 1.0, weight=3),
        Point("one", 1.0, weight=2, alternative=1),
        Point("two", 0.0, weight=2, alternative=1),
    ]

    assert breakdown_of(points).shares == {"must": 0.75, "one": 0.125, "two": 0.125}


def test_a_mandatory_point_that_is_not_met_is_named_and_the_mean_is_kept():
    found = breakdown_of([Point("a", 0.0, mandatory=True), Point("b", 1.0)])

    assert (found.score, found.unmet, found.mean) == (0, ("a",), 0.5)


def test_what_has_no_value_is_named_and_has_no_share():
    found = breakdown_of([Point("a", None), Point("b", 1.0), Point("c", None, mandatory=True)])

    assert (found.unscored, found.lost, found.shares) == (("a", "c"), ("c",), {"b": 1.0})
    assert found.score is None


def test_a_verdict_on_the_whole_is_the_score():
    found = breakdown_of([Point("", 0.25), Point("a", 1.0)])

    assert found.score == 0.25
