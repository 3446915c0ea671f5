"""The arguments of checks as fields that are typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from issues.checks import CHECKS, problems_of
from issues.rubrics.argument_fields import (
    Kind,
    Unreadable,
    arguments_of,
    collected,
    form_value,
    read,
)


def argument(check, name):
    return next(a for a in arguments_of(check) if a.name == name)


def test_every_check_has_a_field_for_each_of_its_arguments():
    for name, check in CHECKS.items():
        assert [a.name for a in arguments_of(name)] == list(check.arguments["properties"])


def test_no_check_has_no_fields():
    assert arguments_of("") == arguments_of("contains_everything") == []


@pytest.mark.parametrize(
    ("check", "name", "kind"),
    [
        ("contains", "text", Kind.TEXT),
        ("contains_any", "texts", Kind.LINES),
        ("contains_at_least", "least", Kind.WHOLE),
        ("word_count", "most", Kind.WHOLE),
        ("text_ratio", "least", Kind.NUMBER),
        ("contains", "negate", Kind.YES_NO),
        ("captures", "group", Kind.NAME),
        ("json_schema", "schema", Kind.JSON),
        ("json_path_equals", "value", Kind.JSON),
        ("tool_arguments", "where", Kind.JSON),
    ],
)
def test_an_argument_is_typed_by_its_kind(check, name, kind):
    assert argument(check, name).kind is kind


STORABLE = st.text(st.characters(exclude_characters="\0", codec="utf-8"))


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | STORABLE,
    lambda inner: st.lists(inner) | st.dictionaries(STORABLE, inner),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("check", "name", "values"),
    [
        ("contains_any", "texts", st.lists(STORABLE)),
        ("json_path_equals", "value", ANY_JSON),
        ("text_ratio", "least", st.floats(0, 1)),
    ],
)
@given(data=st.data())
def test_what_is_shown_reads_back_as_it_was(check, name, values, data):
    field, value = argument(check, name), data.draw(values)

    assert read(field, form_value(field, value)) == value


@pytest.mark.parametrize(
    ("check", "name", "text", "value"),
    [
        ("contains_any", "texts", "a\n\n b \n", ["a", " b "]),
        ("contains_any", "texts", '["a\\nb"]', ["a\nb"]),
        ("contains_any", "texts", "[a]", ["[a]"]),
        ("captures", "group", "2", 2),
        ("captures", "group", "year", "year"),
        ("word_count", "least", " 12 ", 12),
        ("contains", "text", " a ", " a "),
        ("captures", "group", "9" * 5_000, "9" * 5_000),  # no number that Python reads
    ],
)
def test_what_is_typed_is_read(check, name, text, value):
    assert read(argument(check, name), text) == value


@pytest.mark.parametrize(
    ("check", "name", "text", "said"),
    [
        ("word_count", "least", "many", "“many” is not a whole number."),
        ("word_count", "least", "1.5", "“1.5” is not a whole number."),
        ("text_ratio", "least", "half", "“half” is not a number."),
        ("json_schema", "schema", "{", "This is not JSON"),
        ("json_path_equals", "value", "[NaN]", "NaN is not a JSON number"),
        ("json_path_equals", "value", r'["\u0000"]', "cannot be stored"),
        ("contains_any", "texts", r'["\ud800"]', "cannot be stored"),
        ("json_schema", "schema", "[" * 100_000, "nested too deeply"),
        ("json_path_equals", "value", "[1e999]", "1e999 is too large a number"),
    ],
)
def test_what_cannot_be_read_is_said(check, name, text, said):
    with pytest.raises(Unreadable, match=said):
        read(argument(check, name), text)


@pytest.mark.parametrize(
    ("check", "given", "stored", "kept"),
    [
        # What is so by default is not stored, but stays where it was written out.
        ("contains", {"text": "a", "ignore_case": False, "negate": True}, {}, "text negate"),
        ("contains", {"text": "b"}, {"text": "a", "negate": False}, "text negate"),
        ("contains", {}, {"text": ""}, "text"),
        ("contains_any", {}, {"texts": []}, "texts"),
        ("contains", {}, {}, ""),
    ],
)
def test_arguments_are_stored_that_differ_from_their_default(check, given, stored, kept):
    assert collected(check, given, stored) == {
        name: (stored | given)[name] for name in kept.split()
    }


def test_what_is_not_given_is_left_out_for_the_check_to_miss():
    assert problems_of("contains", collected("contains", {}, {})) == ["“text” is missing."]
