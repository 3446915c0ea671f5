from collections import Counter

import pytest

from runs.review.sampling import Draw, how_many, lot


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
