import pytest

from tests.issues.checks.outcomes import (
    check_errs,
    check_fails,
    check_passes,
    check_scores,
    in_time,
    problem,
)

EITHER_WAY = pytest.mark.parametrize("negate", [False, True])


@pytest.mark.parametrize(
    ("text", "wanted", "value"),
    [
        ("The lease ends in May.", "ends in", 1),
        ("The lease ends in May.", "may", 0),
        ("The lease ends in May.", "", 1),
        ("", "May", 0),
        ("", "", 1),
    ],
)
def test_contains_looks_for_the_text_as_it_stands(text, wanted, value):
    check_scores("contains", text, value, text=wanted)
    check_scores("contains", text, 1 - value, text=wanted, negate=True)


def test_case_is_ignored_if_asked():
    check_passes("contains", "The lease ends in MAY.", text="may", ignore_case=True)
    check_fails("contains", "The lease ends in MAY.", text="june", ignore_case=True)
    check_fails("contains", "Hello", text="HELLO", ignore_case=True, negate=True)


@pytest.mark.parametrize(
    ("texts", "value"), [(["rent", "tenant"], 0), (["rent", "lease"], 1), ([], 0)]
)
def test_one_of_many_is_enough(texts, value):
    check_scores("contains_any", "The lease ends.", value, texts=texts)


@pytest.mark.parametrize(
    ("texts", "value"),
    [(["lease", "ends"], 1), (["lease", "rent"], 1 / 2), (["lease", "ends", "x"], 2 / 3), ([], 1)],
)
def test_all_counts_the_share(texts, value):
    check_scores("contains_all", "The lease ends.", value, texts=texts)
    check_scores("contains_all", "The lease ends.", 1 - value, texts=texts, negate=True)


def test_all_ignores_case_if_asked():
    # Two of the four are there.
    texts = ["lease", "ENDS", "x", "y"]
    check_scores("contains_all", "The LEASE ends", 0.5, texts=texts, ignore_case=True, negate=True)


@pytest.mark.parametrize(
    ("least", "texts", "value"),
    [
        (3, ["one", "two", "three"], 1),
        (2, ["one", "two", "three"], 1),
        (4, ["one", "two", "six"], 2 / 4),
        (2, [], 0),
        (0, ["six"], 1),
        (-1, [], 1),
    ],
)
def test_at_least_counts_in_proportion(least, texts, value):
    check_scores("contains_at_least", "one two three four", value, least=least, texts=texts)


@pytest.mark.parametrize(
    ("text", "word", "value"),
    [
        ("Along the Paraná River", "Paraná", 1),
        ("Along the Paranáx River", "Paraná", 0),
        ("foo_bar", "foo", 0),
        ("foo-bar", "foo", 1),
        ("x2", "x", 0),
        ("x²", "x", 0),
        ("Hello world", "ell", 0),
        ("Москва слезам не верит", "Москва", 1),
        ("Москвал", "Москва", 0),
        ("costs $5 (net)", "$5 (net)", 1),
        ("anything", "", 1),
        ("", "word", 0),
    ],
)
def test_a_word_has_no_letter_digit_or_underscore_beside_it(text, word, value):
    check_scores("contains_word", text, value, text=word)


def test_a_word_is_found_in_any_case_if_asked():
    check_passes("contains_word", "CAFÉ noir", text="café", ignore_case=True)
    check_fails("contains_word", "CAFÉ noir", text="café")


def test_starts_and_ends_count_white_space():
    check_passes("starts_with", "Sorry, no.", text="Sorry")
    check_fails("starts_with", " Sorry, no.", text="Sorry")
    check_fails("starts_with", "Sorry, no.", text="no.")
    check_fails("starts_with", "SORRY no", text="sorry", ignore_case=True, negate=True)
    check_passes("ends_with", "Sorry, no.", text="no.")
    check_fails("ends_with", "Sorry, no.\n", text="no.")
    check_passes("ends_with", "Hello WORLD", text="world", ignore_case=True)


def test_equals_is_the_whole_answer_without_the_space_around():
    check_passes("equals", " Paris\n", text="Paris")
    check_fails("equals", "Paris.", text="Paris")
    check_fails("equals", "paris", text="Paris")
    check_passes("equals", "paris", text="Paris ", ignore_case=True)


@EITHER_WAY
@pytest.mark.parametrize(
    "name", ["contains", "contains_word", "starts_with", "ends_with", "equals"]
)
def test_a_number_is_no_text(name, negate):
    check_errs(name, "5", "“text” is 5", text=5, negate=negate)


@pytest.mark.parametrize("texts", ["one", [1], None, {"a": 1}])
def test_many_texts_are_a_list_of_texts(texts):
    assert "texts" in problem("contains_any", texts=texts)


def test_explanations_name_what_is_missing():
    from issues.checks import Material, run

    outcome = run("contains_all", {"texts": ["lease", "rent"]}, Material("The lease"))
    assert outcome.explanation == "Holds 1 of 2; not “rent”."


def test_a_long_word_is_looked_for_in_time():
    with in_time():
        check_fails("contains_word", ("a" * 2_999 + "b") * 20, text="a" * 3_000)


def test_a_long_word_is_found():
    check_passes("contains_word", f"so {'wo-rd' * 100}.", text="wo-rd" * 100)


def test_there_are_not_more_texts_than_can_be_looked_for_in_time():
    assert problem("contains_all", texts=["a"] * 1_000) == ""
    assert "at most 1000" in problem("contains_all", texts=["a"] * 1_001)
