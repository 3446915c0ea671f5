import pytest

from tests.issues.checks.outcomes import error_of, problem, score


@pytest.mark.parametrize(
    ("text", "least", "most", "value"),
    [
        ("one two", 1, 3, 1),
        ("one two", 2, 2, 1),
        # Too few: 2 of 4. Too many: 2 for 5.
        ("one two", 4, 8, 2 / 4),
        ("one two three four five", 0, 2, 2 / 5),
        ("", 3, 5, 0),
        ("", 0, 5, 1),
        ("", 0, 0, 1),
        ("a b", 0, 0, 0),
        ("one\u00a0two\n\nthree", 3, 3, 1),
        ("one \ufeff two", 2, 2, 1),
    ],
)
def test_words_outside_the_range_count_in_proportion(text, least, most, value):
    assert score("word_count", text, least=least, most=most) == value
    assert score("word_count", text, least=least, most=most, negate=True) == 1 - value


def test_one_end_is_enough():
    assert score("word_count", "one two", least=2) == 1
    assert score("word_count", "one two three", most=2) == 2 / 3


def test_a_range_must_hold_something_but_not_everything():
    assert problem("word_count", least=5, most=3) == (
        '“most” (3) is less than “least” (5). Given: {"least": 5, "most": 3}.'
    )
    assert "Enter “least”" in problem("word_count")
    assert "“least” is -1" in problem("word_count", least=-1, most=2)
    assert "less than" in error_of("word_count", "text", least=5, most=3)
    assert "least" in error_of("word_count", "text", least="5", most=9)
