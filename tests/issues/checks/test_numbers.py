import pytest

from issues.checks import Material, run
from tests.issues.checks.outcomes import error_of, in_time, problem, score

NUMBERS = {
    42: r"42.[1][2]|42[^1]|42【4:0†source】"
    r"|42|**42**|_42_|(42).|42!|[42]|$\boxed{42}$|答案是42。|٤٢|४२|４２",
    -5: "It is -5 degrees|x=−5|x = - 5|–5|is —5|－５|&minus;5|minus 5|$-5$|-$5|−5 €",
    5: r"10-5|10 minus 5|5 m²|5 m^{2}|x_1 = 5|5\,\text{cm}^2|5 ± 2|EUR5|R$ 5|5, as H2O|5 v1.2"
    r"|5 m s^{-2}|5 m·s⁻²|5 s^-1|5(2)|5 [a]",
    1234.5: "$1,234.50.|1.234,50 €|1 234,5|1\u202f234,5|1\xa0234.5|1’234.50|1'234,5|1,234.5 of it",
    9500: r"9,500.|$9{,}500$|9\,500|9\ 500|9~500|9,\!500|\$9,500|9 500|9_500|von 1,5 auf 9.500",
    100_000: "1,00,000 rupees|Rs.1,00,000|₹ 1,00,000.00|100.000,0|1 lakh|10万|10^5|1e5|1.0E+5",
    1_234_567: "1,234,567|1.234.567|1 234 567|12,34,567|1'234'567|1&nbsp;234&nbsp;567",
    0.75: r"0,75|.75|0.75|3/4|¾|\frac{3}{4}|\dfrac34|٠٫٧٥|7.5×10⁻¹|7,5 \times 10^{-1}|75e-2",
    3.5: r"3½|3 1/2|3\frac{1}{2}|3,5 kg|3.5%|3,5\%|7/2",
    6.022e23: r"6.022 \times 10^{23}|6.022E+23",
    3e6: "3 million|3 млн|3 mln|300万|0.3 करोड़",
    2000: r"2 тыс.|2×10³|2 \cdot 10^{3}|2*10**3|2 x 10^3|2 thousand|2 tausend|2·10<sup>3</sup>",
    0.123: "0,123|0.123",
    1234.567: "1234,567|1.234,567|1,234.567|1234.567",
    -0.75: r"-3/4|−¾|-\frac{3}{4}",
}


@pytest.mark.parametrize(
    ("text", "number"),
    [(text, number) for number, texts in NUMBERS.items() for text in texts.split("|")],
)
def test_the_last_number_is_read_as_people_do(text, number):
    assert score("number_equals", text, value=number) == 1
    assert score("number_equals", text, value=2 * number + 7) == 0


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        *(("1.234", (1234, 1.234)), ("1,234", (1234, 1.234)), (r"\num{1{,}234}", (1.234, 1234))),
        *(("20 %", (20, 0.2)), ("5 ‰", (5, 0.005)), ("take 12 345", (12345, 345))),
        *(("9/10", (9, 0.9)), ("3k", (3, 3000)), ("10²", (100, 10)), ("±5", (5, -5))),
        *(("12.05.2024", (12, 2024)), ("2024-05-12", (12,)), ("12:30", (30,)), ("1,2,3", (3,))),
        *((r"2\sqrt{3}", (3, 3.46)), ("2π", (2, 6.28)), (r"0.\overline{3}", (3, 1 / 3))),
        *(("1億2000万", (1.2e8, 2e7, 2000)), ("5만 3천", (53_000, 3000)), ("42 [1]", (42,))),
        ("6,022·10²³", (6.022e23, 6022e23)),
        *((",5", (5, 0.5)), ("12/05/2024", (12,)), ("1.2.3", (3,))),
    ],
)
def test_what_may_be_another_number_is_not_failed(text, numbers):
    outcomes = [run("number_equals", {"value": value}, Material(text)) for value in numbers]
    assert all(one.value == 1 or "Cannot tell" in one.error for one in outcomes)
    assert sum(one.value == 1 for one in outcomes) < 2


def test_a_stated_decimal_sign_decides():
    for sign, text, number in ((",", "1.234", 1234), (",", "1,234", 1.234), (".", "1,234", 1234)):
        other = 1235.234 - number
        assert score("number_equals", text, value=number, decimal_sign=sign) == 1
        assert score("number_equals", text, value=other, decimal_sign=sign) == 0
    assert score("number_equals", "3.5", value=3.5, decimal_sign=",") == 1
    assert "“decimal_sign”" in problem("number_equals", value=1, decimal_sign=";")


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
        assert (
            score("number_equals", "1 " * 50_000 + "\\frac{" * 5_000 + "= " * 5_000, value=7) == 0
        )


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
