"""Numbers as people type them."""

import time

import pytest

from runs.launching.number_lists import numbers_in


@pytest.mark.parametrize("text", ["3, 8-10", " 3 8 - 10 ", "3;8–10", "3\n8  –  10", "8-10 3"])
def test_numbers_and_ranges_are_read_however_they_are_spaced(text):
    assert sorted(numbers_in(text)) == [3, 8, 9, 10]


def test_much_space_takes_no_time():
    started = time.process_time()
    assert numbers_in("1" + " " * 100_000 + "2") == [1, 2]
    assert time.process_time() - started < 1
