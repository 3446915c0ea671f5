from decimal import Decimal

import pytest

from evalhub.display.formatting import (
    between,
    count,
    few,
    percent,
    score,
    seconds,
    span,
    usd,
    words,
)
from evalhub.statistics.interval import Interval


@pytest.mark.parametrize("write", [percent, between, score, count, usd, seconds])
def test_what_is_not_measured_is_a_dash(write):
    assert write(None) == "—"


@pytest.mark.parametrize(("share", "text"), [(0.625, "62.5%"), (1.0, "100%"), (0.0, "0%")])
def test_shares(share, text):
    assert percent(share) == text


def test_intervals():
    assert between(Interval(0.2, 0.5)) == "20–50%"


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (Decimal(0), "$0.00"),
        (Decimal("1234.5"), "$1,234.50"),
        (Decimal("0.1"), "$0.10"),
        (Decimal("0.012345"), "$0.012"),
        (Decimal("0.00003"), "$0.000030"),
        (Decimal("0.00000001"), "<$0.000001"),
    ],
)
def test_money(dollars, text):
    assert usd(dollars) == text


@pytest.mark.parametrize(("ms", "text"), [(840, "840 ms"), (1200, "1.2 s"), (65_000, "1 min 5 s")])
def test_times(ms, text):
    assert seconds(ms) == text


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (0.5, "0.5"), (2 / 3, "0.67")])
def test_scores(value, text):
    assert score(value) == text


@pytest.mark.parametrize(("bounds", "text"), [((1200, 1200), "1,200"), ((3, 1200), "3 to 1,200")])
def test_ranges(bounds, text):
    assert span(bounds) == text


def test_codes_read_as_words():
    assert words("rate_limited") == "rate limited"


@pytest.mark.parametrize(
    ("told", "text"),
    [({}, "a, b, c"), ({"most": 2}, "a, b and 1 more"), ({"of": 1_203}, "a, b, c and 1,200 more")],
)
def test_the_first_names_tell_how_many_more_there_are(told, text):
    assert few(["a", "b", "c"], **told) == text


def test_a_narrow_interval_holds_its_rate():
    assert between(Interval(0.9961, 0.9993)) == "99.6–99.9%"
    assert between(Interval(0.47, 0.76)) == "47–76%"
