from collections import Counter

import pytest

from runs.review.sampling import (
    BY_CHANCE,
    Draw,
    Spread,
    how_many,
    inverse_weight,
    lot,
    position,
)


def test_lots_are_always_the_same():
    # Other numbers would draw others from every queue that there is.
    assert lot(7, 1234) == 7_712_492_226_961_722_181
    assert lot(8, 1234) != 7_712_492_226_961_722_181
    assert lot(7, 1234) != lot(7, 1234, "order")


def test_lots_are_spread_evenly():
    tenths = Counter(10 * lot(1, pk) >> 64 for pk in range(10_000))

    # Each tenth has 1000 ± 4 standard deviations of 30.
    assert all(abs(tenths[n] - 1000) < 120 for n in range(10))


@pytest.mark.parametrize(
    ("share", "answered", "selected", "drawn"),
    [
        # r = share · s / (1 - share · (1 - s/n))
        (0.2, 100, 50, 11),  # 10 / 0.9
        (0.2, 100, 100, 20),  # all have reasons: a fifth of them
        (0.5, 1000, 10, 10),  # 5 / (1 - 0.5 · 0.99) = 9.9
        (0.2, 100, 0, 1),
        (0.0, 100, 50, 0),
        (1.0, 100, 50, 100),
        (0.2, 0, 0, 0),
    ],
)
def test_how_many_are_drawn(share, answered, selected, drawn):
    assert how_many(share, answered, selected) == drawn


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.8])
@pytest.mark.parametrize("selected", [10, 300, 1000])
def test_random_items_are_about_their_share_of_those_added(share, selected):
    n = 1000
    drawn = how_many(share, n, selected)

    both = drawn * selected / n  # expected
    assert drawn == pytest.approx(share * (selected + drawn - both), abs=1)


def test_the_lowest_lots_are_drawn():
    draw = Draw.of([50, 10, 40, 30], 2)

    assert [draw.position_of(one) for one in (10, 30, 40, 50)] == [0, 1, None, None]


def test_more_severe_comes_first_whenever_it_arrives():
    assert position((0, 255), 10**6, 0.9) < position((1, 0), 0, 0.0)


def test_later_comes_after_the_equally_severe_however_heavy():
    assert position((1, 255), 5, 0.9) < position((1, 0), 6, 0.0)


def test_heavier_comes_first_among_simultaneous_ones():
    assert position((1, inverse_weight(3.0)), 5, 0.9) < position((1, inverse_weight(1.0)), 5, 0.0)


def test_positions_fit_their_column():
    assert position(BY_CHANCE, 2**40, 0.999_999_9) < 2**63


def test_drawn_ones_are_spread_evenly_over_the_ranks():
    grave, light = (1, 200), (5, 200)
    spread = Spread({light: 30, grave: 70}, 10)

    assignments = [spread.at(assignment) for assignment in range(10)]

    assert [rank for rank, _ in assignments] == [grave] * 7 + [light] * 3
    assert assignments[0][1] == pytest.approx(0.5 * 100 / 10 / 70)


def test_random_items_without_reasons_come_last():
    assert Spread({}, 4).at(1) == (BY_CHANCE, 0.375)
