import pytest

from tests.issues.checks.outcomes import check_errs, check_passes, check_scores, problem


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
    check_scores("word_count", text, value, least=least, most=most)
    check_scores("word_count", text, 1 - value, least=least, most=most, negate=True)


def test_one_end_is_enough():
    check_passes("word_count", "one two", least=2)
    check_scores("word_count", "one two three", 2 / 3, most=2)


def test_a_range_must_hold_something_but_not_everything():
    assert problem("word_count", least=5, most=3) == (
        '“most” is 3, which is less than “least”, 5. Given: {"least": 5, "most": 3}.'
    )
    assert "Give “least”" in problem("word_count")
    assert "“least” is -1" in problem("word_count", least=-1, most=2)
    check_errs("word_count", "text", "less than", least=5, most=3)
    check_errs("word_count", "text", "least", least="5", most=9)
