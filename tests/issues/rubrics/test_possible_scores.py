"""Possible scores of a rubric before any answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from issues.rubrics.possible_scores import in_words, possible_scores
from issues.rubrics.scales import BINARY
from issues.rubrics.scoring import Point


def scores(*points, never_scored=()):
    found = possible_scores(points, BINARY.passes, never_scored)
    return [None if each.score is None else round(each.score, 4) for each in found]


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([Point("1", None)], [1, 0.5, 0]),
        ([Point("1", None, inverted=True)], [1, 0.5, 1]),
        ([Point("1", None), Point("2", None, weight=3, inverted=True)], [1, 0.5, 0.75]),
        ([Point("1", None, mandatory=True), Point("2", None)], [1, 0, 0]),
        ([Point("1", None, alternative=1), Point("2", None, alternative=2)], [1, 0.5, 0]),
        ([], [None, None, None]),
    ],
)
def test_a_perfect_a_half_and_an_empty_answer(points, expected):
    assert scores(*points) == expected


def test_what_is_never_scored_takes_its_weight_with_it():
    points = Point("1", None), Point("2", None, weight=9, inverted=True)

    assert scores(*points, never_scored=["2"]) == [1, 0.5, 0]
    assert scores(*points, never_scored=["1", "2"]) == [None, None, None]


@given(
    st.lists(
        st.builds(
            Point,
            key=st.uuids().map(str),
            value=st.none(),
            weight=st.floats(0.1, 10),
            inverted=st.booleans(),
            alternative=st.none() | st.integers(1, 3),
        ),
        min_size=1,
    )
)
def test_a_perfect_answer_scores_everything(points):
    assert scores(*points)[0] == 1


def test_how_points_count_is_said_by_their_places():
    points = [
        Point("a", None),
        Point("b", None),
        Point("c", None, mandatory=True),
        Point("d", None, alternative=1),
        Point("e", None, alternative=2),
        Point("f", None, alternative=2),
        Point("g", None, inverted=True, alternative=1),
    ]

    assert in_words(points) == [
        "Criteria 1 to 3 are required, counted by weight.",
        "To succeed, any one suffices: alternative 1 (criterion 4) or alternative 2 "
        "(criteria 5 and 6). The best counts as one criterion of weight 1.",
        "To fail: alternative 1 (criterion 7), counted as one criterion of weight 1.",
        "Criterion 3 is mandatory: if not met, the whole score is 0.",
    ]


def test_nothing_is_said_of_no_points():
    assert in_words([]) == []
