"""Anchored rates, changes and shifts: worked worlds, the formulas as loops, degenerate cases."""

from math import sqrt

import numpy as np
import pytest

from evalhub.statistics.people.anchored import Anchored, anchored_change, anchored_rate, judge_shift
from evalhub.statistics.people.sides import Side, side_of
from evalhub.statistics.people.strata import stratified
from evalhub.statistics.student import student_quantile
from tests.evalhub.statistics.people.worlds import WORLDS, by_loops, drawn_side, side_in

CHANGES = [world for world in WORLDS if "first_steps" in world]
RATES = [world for world in WORLDS if "side" in world]


def figures(found: Anchored) -> dict:
    return {
        "estimate": found.estimate,
        "low": found.interval.low,
        "high": found.interval.high,
        "p": found.p,
        "se": found.standard_error,
        "df": found.freedom,
        "lam": found.tuning,
        "v_before_bound": found.variance,
        "q": list(found.least_variance),
        "judges": found.judged,
        "read": found.read,
        "issues_read": found.issues_read,
        "is_enough": found.is_enough,
        "by_issue": found.accounts_for_issues,
    }


def agree(found: Anchored | None, *expected: dict) -> None:
    assert found is not None
    mine = figures(found)
    for figure, value in (item for one in expected for item in one.items()):
        assert mine[figure] == pytest.approx(value, abs=1e-9), figure


def named(worlds):
    return pytest.mark.parametrize("world", worlds, ids=lambda world: world["name"])


def steps_agree(side: Side, steps: dict) -> None:
    found = stratified(side)
    assert found is not None
    assert [found.people, found.control, found.judged, found.n] == pytest.approx(
        [steps["H"], steps["C"], steps["J"], steps["read"]], abs=1e-9
    )
    for mine, one in zip(found.strata, steps["strata"], strict=True):
        assert list(mine.names) == one["made_of"]
        assert [mine.share, mine.n, mine.human, mine.judged_of_read, mine.judged] == pytest.approx(
            [
                *(one["A"], one["n"], one["mean_human"]),
                *(one["mean_judge_of_read"], one["mean_judge_of_all"]),
            ],
            abs=1e-9,
        )


@named(CHANGES)
def test_changes_of_worked_worlds(world):
    first, second, level = side_in(world["first"]), side_in(world["second"]), world["level"]

    steps_agree(first, world["first_steps"])
    steps_agree(second, world["second_steps"])
    agree(anchored_change(first, second, level=level), world["change"], world["change_steps"])
    agree(judge_shift(first, second, level=level), world["shift"], world["shift_steps"])
    agree(anchored_rate(first, level=level), world["rate_of_first"])
    agree(anchored_rate(second, level=level), world["rate_of_second"])


@named(RATES)
def test_rates_of_worked_worlds(world):
    side = side_in(world["side"])

    steps_agree(side, world["steps"])
    agree(anchored_rate(side, level=world["level"]), world["rate"], world["rate_steps"])


def test_answers_that_are_word_for_word_the_same_leave_first():
    (world,) = (one for one in WORLDS if "same_words" in one)
    found = anchored_change(
        *(side_in(world[one]) for one in ("first", "second")),
        same_words=world["same_words"],
        level=world["level"],
    )
    agree(found, world["change"], {"judges": world["judges"]})


@pytest.mark.parametrize("seed", range(8))
def test_figures_are_those_of_the_formulas(seed):
    rng = np.random.default_rng(seed)
    tests, issues = int(rng.integers(30, 80)), int(rng.integers(2, 20))
    first, second = (
        drawn_side(rng, tests, issues, int(rng.integers(1, 4)), 4, float(rng.uniform(0.2, 0.9)))
        for _ in range(2)
    )
    level = 0.0158 if seed % 2 else 0.05

    both = by_loops([first, second], [-1, 1], level=level)
    agree(anchored_change(first, second, level=level), both)
    shift = by_loops([first, second], [-1, 1], level=level, is_shift=True)
    agree(judge_shift(first, second, level=level), shift)
    rate = by_loops([first], [1], level=level)
    agree(
        anchored_rate(first, level=level),
        {key: rate[key] for key in ("estimate", "se", "df", "lam", "v_before_bound", "q")},
    )


def test_judged_is_people_and_shift_to_the_digit():
    rng = np.random.default_rng(5)
    first, second = (drawn_side(rng, 60, 12, 1, 2, 0.5) for _ in range(2))
    change, shift = anchored_change(first, second), judge_shift(first, second)

    assert change is not None
    assert shift is not None
    assert change.judged == pytest.approx(change.estimate + shift.estimate, abs=1e-12)


def test_with_one_stratum_it_can_be_said_in_words():
    """People passed so many of those that judges passed, and of those that they failed."""
    judged = [1.0] * 60 + [0.0] * 20
    read: list[float | None] = [None] * 80
    read[:15] = [1.0] * 14 + [0.0]
    read[60:65] = [1.0] + [0.0] * 4
    side = side_of(range(80), [place % 20 for place in range(80)], judged, read, ["all"] * 80)
    found = anchored_rate(side)

    assert found is not None
    assert found.tuning == pytest.approx(14 / 15 - 1 / 5)
    assert found.estimate == pytest.approx(0.75 * 14 / 15 + 0.25 * 1 / 5)


def unread(side: Side) -> Side:
    return side._replace(read=np.full(len(side.read), np.nan))


def test_everything_read_is_peoples_own_mean():
    side = drawn_side(np.random.default_rng(1), 50, 10, 1, 1, 1.1)
    found = anchored_rate(side)

    assert found is not None
    assert found.estimate == pytest.approx(side.read.mean())


def test_a_judge_that_passes_everything_adds_nothing():
    rng = np.random.default_rng(2)
    first, second = (
        side._replace(judged=np.ones(60))
        for side in (drawn_side(rng, 60, 12, 1, 1, 0.6) for _ in range(2))
    )
    found = anchored_change(first, second)

    assert found is not None
    assert found.tuning == 0
    assert found.estimate == pytest.approx(np.nanmean(second.read) - np.nanmean(first.read))


def test_readings_that_are_all_alike_never_give_a_width_of_zero():
    n = 30
    side = side_of(range(n), range(n), [1.0] * n, [1.0] * n, ["all"] * n)
    change, rate = anchored_change(side, side), anchored_rate(side)

    assert change is not None
    assert rate is not None
    reach = student_quantile(0.95, n - 1) * sqrt(2) / n
    assert change.interval == pytest.approx((-reach, reach))
    assert rate.estimate == pytest.approx(1)
    assert 0.8 < rate.interval.low < rate.interval.high == 1


def test_nothing_read_on_a_side_or_no_test_in_common_has_no_figure():
    side = drawn_side(np.random.default_rng(3), 40, 8, 1, 2, 0.7)

    assert anchored_rate(unread(side)) is None
    assert anchored_change(side, unread(side)) is None
    assert anchored_change(unread(side), side) is None
    assert judge_shift(unread(side), side) is None
    assert anchored_change(side, side._replace(tests=side.tests + 1000)) is None
    assert anchored_change(side, side, same_words=side.tests.tolist()) is None
    with pytest.raises(ValueError, match="level"):
        anchored_rate(side, level=1)


@pytest.mark.parametrize(
    ("tests", "issues", "read", "is_enough"),
    [(60, 12, 24, False), (60, 12, 25, True), (60, 60, 25, True), (60, 4, 25, True)],
)
def test_people_are_heard_from_25_readings_and_10_issues_on(tests, issues, read, is_enough):
    some: list[float | None] = [*[1.0, 0.0] * (read // 2), *[1.0] * (read % 2)]
    some += [None] * (tests - read)
    of = [place % issues for place in range(tests)]
    found = anchored_rate(side_of(range(tests), of, [1.0] * tests, some, ["all"] * tests))

    assert found is not None
    assert found.is_enough == is_enough
    assert found.accounts_for_issues == (issues >= 5)


def test_25_readings_of_few_issues_are_too_few():
    n = 60
    some: list[float | None] = [None] * n
    of = [place // 5 for place in range(n)]
    for place in range(25):
        some[place] = float(place % 2)
    found = anchored_rate(side_of(range(n), of, [1.0] * n, some, ["all"] * n))

    assert found is not None
    assert (found.read, found.issues_read, found.is_enough) == (25, 5, False)


def test_tests_that_one_side_alone_has_scored_count_against_a_change():
    rng = np.random.default_rng(9)
    found = anchored_change(*(drawn_side(rng, 60, 12, 1, 1, 0.6) for _ in range(2)))

    assert found is not None
    low, high = found.interval
    assert found.with_missing(0.1).interval == pytest.approx((0.9 * low - 0.1, 0.9 * high + 0.1))
    assert found.with_missing(0).interval == found.interval
