"""Removed and added words of a text."""

from hypothesis import given
from hypothesis import strategies as st

from evalhub.display.word_diff import MAX_TOKENS, Part, word_diff


def test_changes_are_found_word_by_word():
    diff = word_diff("It opens at nine.", "It opens at ten.")

    assert diff.first == (Part("", "It opens at "), Part("-", "nine"), Part("", "."))
    assert diff.second == (Part("", "It opens at "), Part("+", "ten"), Part("", "."))


def test_adjacent_changes_form_one_part():
    diff = word_diff("a red car", "a big bus")

    assert diff.first == (Part("", "a "), Part("-", "red car"))


def test_equal_texts_have_one_part():
    assert word_diff("Yes, 42.", "Yes, 42.").first == (Part("", "Yes, 42."),)


def test_nothing_has_no_parts():
    diff = word_diff("", "new")

    assert (diff.first, diff.second) == ((), (Part("+", "new"),))


def test_the_end_of_a_long_text_is_not_compared():
    long = "word " * MAX_TOKENS
    diff = word_diff(long, long + "more")

    assert diff.is_cut
    assert {part.sign for part in diff.second} == {""}


texts = st.text(st.sampled_from("ab .\n,é"), max_size=30)


@given(texts, texts)
def test_parts_are_the_texts_and_what_is_common_is_equal(first, second):
    diff = word_diff(first, second)

    assert "".join(part.text for part in diff.first) == first
    assert "".join(part.text for part in diff.second) == second
    assert common(diff.first) == common(diff.second)
    assert {part.sign for part in diff.first} <= {"", "-"}
    assert {part.sign for part in diff.second} <= {"", "+"}


def common(parts):
    return "".join("".join(part.text for part in parts if not part.sign).split())
