import pytest

from runs.review.queue_order import BY_CHANCE, Spread, inverse_weight, position


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
