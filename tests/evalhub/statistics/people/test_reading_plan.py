"""Plans of reading: looks, chances, lots, words and forecasts."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from evalhub.statistics.interval import Interval
from evalhub.statistics.people.anchored import Anchored, anchored_change
from evalhub.statistics.people.reading_plan import (
    Looks,
    Word,
    allotment,
    drawn_pairs,
    forecast,
    looks_of,
    reading_minutes,
    word_of,
)
from evalhub.statistics.student import student_quantile
from tests.evalhub.statistics.people.worlds import drawn_side


@pytest.fixture
def change() -> Anchored:
    rng = np.random.default_rng(4)
    found = anchored_change(*(drawn_side(rng, 60, 12, 1, 1, 0.6) for _ in range(2)))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("budget", "pairs", "level"),
    [
        (125, (25, 50, 75, 100, 125), 0.0158),
        (250, (50, 100, 150, 200, 250), 0.0158),
        (100, (25, 40, 60, 80, 100), 0.0158),
        (50, (25, 30, 40, 50), 0.0182),
        (30, (25, 30), 0.0294),
        (25, (25,), 0.05),
        (10, (10,), 0.05),
    ],
)
def test_looks_are_at_fifths_and_never_before_25_pairs(budget, pairs, level):
    assert looks_of(budget) == Looks(pairs, level)


def test_between_looks_the_last_one_and_the_next_are_known():
    looks = looks_of()

    assert [looks.last_at(read) for read in (24, 25, 63, 200)] == [None, 25, 50, 125]
    assert [looks.next_after(read) for read in (0, 25, 63, 125)] == [25, 50, 75, None]


@pytest.mark.parametrize(
    ("pairs", "telling", "plain", "expected"),
    [
        (25, 100, 500, (8, 17)),  # ⌈200 · 25 / 700⌉
        (25, 2, 500, (2, 23)),
        (25, 8, 592, (5, 20)),
        (25, 500, 3, (22, 3)),
        (25, 500, 30, (20, 5)),
        (25, 0, 600, (0, 25)),
        (25, 600, 0, (25, 0)),
        (100, 40, 20, (40, 20)),
        (0, 40, 20, (0, 0)),
    ],
)
def test_telling_tests_have_twice_the_chance_of_plain_ones(pairs, telling, plain, expected):
    assert allotment(pairs, telling, plain) == expected


def test_every_allotment_is_of_tests_that_there_are():
    for pairs, telling, plain in np.random.default_rng(1).integers(0, 40, (300, 3)).tolist():
        found = allotment(pairs, telling, plain)
        assert sum(found) == min(pairs, telling + plain)
        assert 0 <= found.telling <= telling
        assert 0 <= found.plain <= plain


def test_lots_are_drawn_within_either_kind_for_each_look():
    telling, plain = list(range(100)), list(range(100, 600))
    order = drawn_pairs(telling, plain, looks_of(), seed=7)

    assert order == drawn_pairs(telling, plain, looks_of(), seed=7)
    assert order != drawn_pairs(telling, plain, looks_of(), seed=8)
    assert len(set(order)) == len(order) == 125
    for look in looks_of().pairs:
        assert sum(test < 100 for test in order[:look]) == allotment(look, 100, 500).telling


def test_what_was_read_before_counts():
    order = drawn_pairs(range(50), range(50, 200), looks_of(25), seed=3, read=[7, 9, 60])

    assert {7, 9, 60} <= set(order)
    assert len(order) == 25


@pytest.mark.parametrize(
    ("interval", "margin", "word"),
    [
        ((0.01, 0.1), None, Word.BETTER),
        ((-0.1, -0.01), None, Word.WORSE),
        ((-0.04, 0.1), None, Word.UNDECIDED),
        ((-0.04, 0.1), 0.05, Word.NO_WORSE),
        ((-0.06, 0.1), 0.05, Word.UNDECIDED),
        ((-0.04, -0.01), 0.05, Word.WORSE),
    ],
)
def test_a_look_stops_where_the_interval_leaves_out_zero_or_the_margin(
    change, interval, margin, word
):
    assert word_of(replace(change, interval=Interval(*interval)), margin=margin) == word


def test_a_forecast_solves_for_the_pairs_whose_interval_leaves_out_the_target(change):
    """Of 600 pairs, 50 were read: 5 won, 45 without a change."""
    differences, chances = np.array([1.0] * 5 + [0.0] * 45), np.full(50, 50 / 600)
    seen = replace(change, estimate=0.1, standard_error=0.06, freedom=40, level=0.0158)
    found = forecast(seen, differences, chances, 600)

    t = student_quantile(1 - 0.0158, 40)
    of_all = (0.1 * 0.9**2 + 0.9 * 0.1**2) / 600
    of_label = (0.06**2 - of_all) / (1 / 50 - 1 / 600)
    assert found.reach == pytest.approx(t * sqrt(of_all))
    assert found.pairs is not None
    reach = [
        t * sqrt(of_all + of_label * (1 / n - 1 / 600)) for n in (found.pairs - 1, found.pairs)
    ]
    assert reach[0] > 0.1 >= reach[1]


def test_reading_does_not_settle_what_all_pairs_could_not(change):
    differences, chances = np.array([1.0, -1.0] * 5 + [0.0] * 40), np.full(50, 0.5)
    seen = replace(change, estimate=0.01, standard_error=0.06)

    assert forecast(seen, differences, chances, 100).pairs is None
    assert forecast(replace(seen, estimate=0.9), differences, chances, 50).pairs is None
    with pytest.raises(ValueError, match="read pairs"):
        forecast(seen, differences, chances, 49)


def test_minutes_are_those_of_the_latest_reviews_once_there_are_20():
    assert reading_minutes(50) == 12.5
    assert reading_minutes(50, [60.0] * 19) == 12.5
    assert reading_minutes(30, [600.0] * 40 + [20.0] * 50) == 10


def test_wrong_numbers_are_refused():
    with pytest.raises(ValueError, match="budget"):
        looks_of(0)
    with pytest.raises(ValueError, match="0 or more"):
        allotment(5, -1, 3)
