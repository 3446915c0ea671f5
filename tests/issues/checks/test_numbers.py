import pytest

from tests.issues.checks.outcomes import error_of, in_time, problem, score


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("42", 42),
        ("The total is $1,234.50.", 1234.5),
        ("First 3, then 4, so the answer is 7", 7),
        ("It is -5 degrees", -5),
        ("x=−5", -5),
        ("10-3", 3),
        ("50%", 50),
        ("12kg", 12),
        ("1e3", 1000),
        ("6.02E+2 items", 602),
        (".5", 0.5),
        ("12,34", 34),
        ("1,000,000", 1_000_000),
        ("take 2, as H2O has", 2),
        ("version 3 of v1.2.9", 3),
    ],
)
def test_the_last_number_counts(text, number):
    assert score("number_equals", text, value=number) == 1
    assert score("number_equals", text, value=number + 1) == 0


def test_without_the_number_it_is_not_shown():
    assert score("number_equals", "forty-two", value=42) == 0
    assert score("number_equals", "forty-two", value=42, negate=True) == 1
    for beyond in ("9" * 5_000, "-1e999"):
        assert score("number_equals", beyond, value=1) == 0


@pytest.mark.parametrize(("tolerance", "value"), [(0, 0), (0.05, 0), (0.1, 1), (0.2, 1)])
def test_the_tolerance_is_included(tolerance, value):
    # 0.3 - 0.2 is 0.09999999999999998 to a computer, and 0.1 to everyone else.
    assert score("number_equals", "0.3", value=0.2, tolerance=tolerance) == value


@pytest.mark.parametrize("value", ["42", None, True, float("nan"), float("inf")])
def test_the_value_is_a_number(value):
    assert "“value”" in problem("number_equals", value=value)


def test_long_texts_are_searched_in_time():
    with in_time():
        assert score("number_equals", "1," * 100_000 + "1.1.1" * 20_000 + "x", value=7) == 0
        assert score("number_equals", "1" * 100_000 + " 7", value=7) == 1


@pytest.mark.parametrize(
    ("text", "wanted", "least", "value"),
    [
        # Three edits over the longer length, 7: 1 − 3/7.
        ("kitten", "sitting", 4 / 7, 1),
        ("kitten", "sitting", 0.58, 0),
        ("same", "same", 1, 1),
        (" same\n", "same", 1, 1),
        ("Same", "same", 1, 0),
        ("abc", "xyz", 0, 1),
        ("abc", "xyz", 0.01, 0),
        ("", "", 1, 1),
        ("", "abc", 0.1, 0),
    ],
)
def test_likeness_counts_edits(text, wanted, least, value):
    assert score("text_ratio", text, text=wanted, least=round(least, 9)) == value


def test_likeness_ignores_case_if_asked():
    assert score("text_ratio", "SAME", text="same", least=1, ignore_case=True) == 1


def test_texts_too_long_to_compare_are_an_error():
    assert "maximum is 50,000" in error_of("text_ratio", "a" * 50_001, text="a", least=0.5)
    assert "“text”" in problem("text_ratio", text="a" * 50_001, least=0.5)


def test_long_texts_are_compared_in_time():
    with in_time():
        assert score("text_ratio", "ab" * 25_000, text="ba" * 20_000 + "c" * 10_000, least=1) == 0


@pytest.mark.parametrize("least", [-0.1, 1.1, "0.5"])
def test_likeness_lies_within_0_and_1(least):
    assert "“least”" in problem("text_ratio", text="a", least=least)
