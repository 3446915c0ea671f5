"""Criteria that are typed one a line."""

import pytest

from issues.rubrics.pasted_criteria import MAX_LINES, criteria_in


@pytest.mark.parametrize(
    ("line", "text", "is_inverted"),
    [
        ("Names a price", "Names a price", False),
        ("names a price", "Names a price", False),
        ("- is rude", "Is rude", True),
        ("not: promises a refund", "Promises a refund", True),
        ("Not : promises a refund", "Promises a refund", True),
        ("should not be rude", "Be rude", True),
        ("Shouldn’t be rude", "Be rude", True),
        ("must not: be rude", "Be rude", True),
        ("The answer should not be rude", "Be rude", True),
        ("should name a price", "Name a price", False),
        ("1. Names a price", "Names a price", False),
        ("12) not: rude", "Rude", True),
        ("* Names a price", "Names a price", False),
        ("Nothing is left out", "Nothing is left out", False),
        ("Notes the price", "Notes the price", False),
        ("3 prices are named", "3 prices are named", False),
    ],
)
def test_a_line_is_read_as_it_was_meant(line, text, is_inverted):
    assert criteria_in(f"First\n{line}")[1] == (text, is_inverted)


def test_a_list_in_which_every_line_has_a_dash_is_a_plain_list():
    assert [line.is_inverted for line in criteria_in("- a\n\n- b\n  - c")] == [False] * 3


def test_lines_that_say_nothing_or_are_too_many_are_left_out():
    assert criteria_in("- rude") == [("Rude", True)]
    assert criteria_in("\n  \nnot:\n-\n* \n\0\nA\0") == [("A", False)]
    assert len(criteria_in("a\n" * 1000)) == MAX_LINES
