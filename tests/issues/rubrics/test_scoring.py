from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from issues.rubrics.scales import FIVE_CLASSES
from issues.rubrics.scoring import Point, consensus, inverted, jury_value, score_of

FOUND = st.sampled_from([option.value for option in FIVE_CLASSES.options]) | st.floats(0, 1)
VALUES = st.none() | FOUND
WEIGHTS = st.floats(0.1, 10)


def points_of(values=VALUES, **fields):
    """Strategy for points of a rubric; alternatives are never mandatory."""
    fields = {
        "key": st.just("point"),
        "value": values,
        "weight": WEIGHTS,
        "inverted": st.booleans(),
        "alternative": st.none() | st.integers(1, 3),
        "mandatory": st.just(False),
    } | fields
    return st.lists(st.builds(Point, **fields), max_size=8)


RUBRICS = points_of() | points_of(alternative=st.none(), mandatory=st.booleans())
PANELS = st.dictionaries(
    st.integers(), st.lists(VALUES, min_size=1, max_size=5), min_size=1, max_size=5
)
RANDOMS = st.randoms(use_true_random=False)


@pytest.mark.parametrize(
    ("values", "mean"), [([1, None, 0], 0.5), ([1, 1, 0], 2 / 3), ([], None), ([None, None], None)]
)
def test_consensus_is_the_mean_of_those_that_answered_and_not_rounded(values, mean):
    assert consensus(values) == (mean and pytest.approx(mean, abs=1e-15))


def way(number, *values, is_fault=False):
    return [Point("way", v, inverted=is_fault, alternative=number) for v in values]


@pytest.mark.parametrize(
    ("points", "score"),
    [
        ([Point("a", 1, 3), Point("b", 0, 1)], 0.75),  # (3 · 1 + 1 · 0) / 4
        # A point without a value takes its weight with it.
        ([Point("a", 1, 1), Point("b", None, 9)], 1),
        ([Point("a", 0.25), Point("b", 1, inverted=True)], 0.125),  # (0.25 + (1 - 1)) / 2
        ([], None),
        ([Point("", None)], None),
        ([Point("a", None), Point("b", None)], None),
        # A verdict on the whole test passes through and outranks criteria, if there is one.
        ([Point("", 0.5, 7)], 0.5),
        ([Point("a", 1), Point("", 0)], 0),
        ([Point("", None), Point("a", 1)], 1),
        # A way of which nothing is known is no way.
        ([*way(1, None, None), *way(2, 0.4, 0.6)], 0.5),
        # After inversion the ways to fail are 1 and 0.25, and the lowest counts.
        ([*way(1, 0, is_fault=True), *way(2, 0.75, is_fault=True)], 0.25),
        # Ways: (1 + 0) / 2 and (0.5 + 1) / 2 = 0.75; with the required (3 · 1 + 1 · 0.75) / 4.
        ([Point("a", 1, 3), *way(1, 1, 0), *way(2, 0.5, 1)], 0.9375),
        # A mandatory point that is not met makes the score zero, also where rounding hides it.
        ([Point("a", 0.5, mandatory=True), Point("b", 1, 9)], 0),
        ([Point("a", 0.5 + 1e-12, mandatory=True)], 0),
        ([Point("a", 0.75, mandatory=True), Point("b", 0.25)], 0.5),
        ([Point("a", None, mandatory=True), Point("b", 1)], None),
        ([Point("a", 0, inverted=True, mandatory=True)], 1),
    ],
)
def test_points_come_to_one_score(points, score):
    assert score_of(points) == score


def test_weights_count_within_a_way_only():
    # The way: (9 · 0.5 + 1 · 0) / 10 = 0.45; with the required (1 + 0.45) / 2.
    points = [Point("a", 1), Point("b", 0.5, 9, alternative=1), Point("c", 0, 1, alternative=1)]
    assert score_of(points) == pytest.approx(0.725)


def test_ways_to_succeed_and_to_fail_with_one_number_stay_apart():
    # Best way to succeed 1, worst way to fail 1 - 0.75: (1 + 0.25) / 2.
    # Were they one way each, those would be (1 + 0.25) / 2 and (0 + 1) / 2, and 0.625 the best,
    # so the required point tells them apart: (0 + 1 + 0.25) / 3 instead of (0 + 0.625) / 2.
    points = [*way(1, 1), *way(2, 0), *way(1, 0.75, is_fault=True), *way(2, 0, is_fault=True)]
    assert score_of([Point("a", 0), *points]) == pytest.approx(1.25 / 3)


def test_template_says_when_a_mandatory_point_is_met():
    points = [Point("a", 0.5, mandatory=True), Point("b", 1)]
    assert score_of(points, is_met=lambda score: score >= 0.5) == 0.75


@pytest.mark.parametrize(
    ("panel", "value"),
    [
        ({"a": [1, 1, 0], "b": [0]}, 1 / 3),  # ((1 + 1 + 0) / 3 + 0) / 2
        ({"a": [None, None], "b": [0.75, None]}, 0.75),
        ({"a": [None], "b": [None]}, None),
    ],
)
def test_panel_counts_each_judge_that_answered_once_however_often_it_was_asked(panel, value):
    assert jury_value(panel) == (value and pytest.approx(value))


# Properties. Those of a score hold to the last digit: its sums are rounded once. ----------------


@given(RUBRICS)
def test_score_is_in_range_or_not_measured(points):
    score = score_of(points)
    assert score is None or 0 <= score <= 1


@given(points_of(FOUND, mandatory=st.just(False)))
def test_rubric_of_which_all_is_known_has_a_score(points):
    assert (score_of(points) is None) == (points == [])


@given(RUBRICS, FOUND, st.data())
def test_better_point_never_lowers_the_score(points, better, data):
    known = [index for index, point in enumerate(points) if point.value is not None]
    assume(known)
    index = data.draw(st.sampled_from(known))
    value = inverted(better) if points[index].inverted else better
    raised = [*points]
    raised[index] = replace(points[index], value=value)
    before, after = (points, raised) if better >= points[index].score else (raised, points)

    lower, higher = score_of(before), score_of(after)

    assert (lower is None and higher is None) or lower <= higher


@given(RUBRICS, RANDOMS)
def test_order_of_points_does_not_matter(points, random):
    shuffled = random.sample(points, len(points))
    assert score_of(shuffled) == score_of(points)


@given(PANELS, RANDOMS)
def test_order_of_judges_and_samples_does_not_matter(panel, random):
    judges = random.sample(list(panel), len(panel))
    shuffled = {judge: random.sample(panel[judge], len(panel[judge])) for judge in judges}
    assert jury_value(shuffled) == jury_value(panel)


@given(PANELS)
def test_failed_judgment_weighs_nothing(panel):
    answered = {judge: [v for v in values if v is not None] for judge, values in panel.items()}
    assert jury_value({j: values for j, values in answered.items() if values}) == jury_value(panel)


@given(points_of())
def test_point_without_a_value_weighs_nothing(points):
    assert score_of([point for point in points if point.value is not None]) == score_of(points)


@given(PANELS)
def test_panel_lies_between_its_lowest_and_highest_vote(panel):
    votes = [vote for values in panel.values() for vote in values if vote is not None]
    value = jury_value(panel)
    assert (value is None) == (votes == [])
    assert value is None or min(votes) - 1e-15 <= value <= max(votes) + 1e-15


@given(points_of(FOUND), FOUND, FOUND)
def test_better_way_never_lowers_the_score(points, first, value):
    points = [*points, *way(1, first)]
    ways = [point for point in points if point.alternative is not None and not point.inverted]
    better = max(value, score_of(ways))
    assert score_of([*points, *way(9, better)]) >= score_of(points)


@given(points_of(FOUND), FOUND)
def test_further_way_to_fail_never_raises_the_score_of_faults(points, value):
    faults = [point for point in points if point.alternative is not None and point.inverted] or way(
        1, 0, is_fault=True
    )
    assert score_of([*faults, *way(9, value, is_fault=True)]) <= score_of(faults)


@pytest.mark.parametrize(("is_fault", "chosen"), [(True, min), (False, max)])
@given(data=st.data())
def test_ways_to_fail_score_as_the_lowest_and_to_succeed_as_the_highest(is_fault, chosen, data):
    rubrics = points_of(FOUND, inverted=st.just(is_fault), alternative=st.integers(1, 3))
    points = data.draw(rubrics)
    ways = [[p for p in points if p.alternative == number] for number in {1, 2, 3}]
    scores = [score_of([replace(p, alternative=None) for p in way]) for way in ways if way]
    assert score_of(points) == chosen(scores, default=None)


@given(st.floats(0, 1))
def test_inversion_twice_is_the_identity(value):
    assert abs(inverted(inverted(value)) - value) <= 2**-53


def test_inversion_twice_of_a_class_is_the_class_and_of_nothing_is_nothing():
    for option in FIVE_CLASSES.options:
        assert inverted(inverted(option.value)) == option.value, option.label
    assert inverted(None) is None
