"""Rows that are read when they are shown."""

import pytest

from reports.documents.document import PIECE, LazyRows


@pytest.fixture
def asked():
    return []


@pytest.fixture
def rows(asked):
    def load(keys):
        asked.append(list(keys))
        return [(key, key * key) for key in keys]

    return LazyRows(range(2 * PIECE + 1), load)


def test_only_what_is_shown_is_read(rows, asked):
    assert list(rows[2:4]) == [(2, 4), (3, 9)]
    assert asked == [[2, 3]]


def test_how_many_there_are_is_known_without_reading(rows, asked):
    assert len(rows) == 2 * PIECE + 1
    assert asked == []


def test_all_of_them_are_read_in_pieces(rows, asked):
    assert [key for key, _ in rows] == list(range(2 * PIECE + 1))
    assert [len(keys) for keys in asked] == [PIECE, PIECE, 1]


def test_one_of_them_is_read_alone(rows, asked):
    assert rows[-1] == (2 * PIECE, (2 * PIECE) ** 2)
    assert asked == [[2 * PIECE]]


def test_nothing_is_read_where_nothing_is_shown(rows, asked):
    assert list(rows[5:5]) == []
    assert asked == []
