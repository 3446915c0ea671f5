"""Which numbers of a text are supported by what was sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.summaries.numbers import Figures, printed_numbers, unsupported

SENT = Figures(
    [110, 88, 22, 0.8, 0.725, 0.0531, 4], quoted="It costs 1,250 euros and 3 cents, 0.37."
)


def flagged(text, figures=SENT):
    return [text[start:end] for start, end in unsupported(text, figures)]


@pytest.mark.parametrize(
    "text",
    [
        "passed 80 % of 110",  # 0.8 and 110 were sent
        "passed 72.5%, about 73 %",  # 0.725 at both precisions
        "80% against 72.5%: 7.5 points",  # 0.8 - 0.725
        "88 is 4 times 22",  # sent; and 88 / 22
        "5.3 % of them",  # 0.0531
        "66 more",  # 88 - 22
        "it says 1,250 and 0.37",  # quoted from a text
        "-22 and \u221222",
    ],
)
def test_supported(text):
    assert flagged(text) == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("passed 85 % of 110", ["85"]),
        ("72.6%", ["72.6"]),
        ("17 of 110", ["17"]),
        ("1,251 euros", ["1,251"]),
        ("only 3 answers", ["3"]),  # a small whole number in a text supports none
        ("100 % of them", ["100"]),  # no value is compared with itself
    ],
)
def test_unsupported(text, numbers):
    assert flagged(text) == numbers


@pytest.mark.parametrize(
    "text",
    [
        "In 2023 and 1999",
        "1. first\n2) second\n(3) third",
        "MD_6017 and P_12 and gpt-5",
        "<ref model='MD_6017' temp='T_8123'/> led",
        "graded 7/10, then 6.5 / 10",
        "version 3.5.1",
    ],
)
def test_years_lists_ids_versions_and_grades_are_no_figures(text):
    assert flagged(text) == []


def test_a_share_of_tests_that_looks_like_a_grade_is_a_figure():
    assert flagged("in 7 out of 10 tests") == ["7", "10"]


def test_a_year_with_a_unit_is_a_figure():
    assert flagged("2023 points") == ["2023"]


def test_numbers_are_read_at_their_precision():
    (number,) = printed_numbers("12.50 %")
    assert (number.value, number.decimals, number.is_percent) == (12.5, 2, True)


@given(st.text(st.sampled_from("0123456789.,%-+/ ()<>aMD_\n")), st.lists(st.floats(-1e6, 1e6)))
def test_every_text_can_be_checked(text, values):
    spans = unsupported(text, Figures(values))
    assert all(text[start:end].replace(",", "").replace(".", "").isdigit() for start, end in spans)


@given(st.lists(st.floats(0, 1), min_size=1), st.integers(0, 3))
def test_a_sent_share_is_supported_at_any_precision(values, digits):
    text = f"It is {100 * values[0]:.{digits}f} %."
    assert flagged(text, Figures(values)) == []
