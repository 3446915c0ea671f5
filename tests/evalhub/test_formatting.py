from decimal import Decimal

import pytest

from evalhub.display.formatting import (
    between,
    count,
    few,
    percent,
    points,
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


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        *((percent, 0.625, "62.5%"), (percent, 1.0, "100%"), (percent, 0.0, "0%")),
        *((between, Interval(0.2, 0.5), "20–50%"), (between, Interval(0.47, 0.76), "47–76%")),
        # A narrow interval holds its rate.
        (between, Interval(0.9961, 0.9993), "99.6–99.9%"),
        # All and none only are 100% and 0%.
        *((percent, 2039 / 2040, ">99.9%"), (percent, 1 / 2040, "<0.1%")),
        *((percent, 0.1 + 0.2 + 0.3 + 0.4, "100%"), (percent, 1e-16, "0%")),
        *((score, 2039 / 2040, ">0.99"), (score, 1 / 2040, "<0.01"), (score, -0.001, "0")),
        (between, Interval(0.965, 0.997), "96.5–99.7%"),
        (between, Interval(0.9972, 0.99995), "99.7–>99.9%"),
        (between, Interval(0.0, 0.0028), "0.0–0.3%"),
        *((usd, Decimal(0), "$0.00"), (usd, Decimal("1234.5"), "$1,234.50")),
        *((usd, Decimal("0.1"), "$0.10"), (usd, Decimal("0.012345"), "$0.012")),
        (usd, Decimal("0.00003"), "$0.000030"),
        (usd, Decimal("0.00000001"), "<$0.000001"),
        *((seconds, 840, "840 ms"), (seconds, 1200, "1.2 s"), (seconds, 65_000, "1 min 5 s")),
        *((score, 0, "0"), (score, 0.5, "0.5"), (score, 2 / 3, "0.67")),
        *((span, (1200, 1200), "1,200"), (span, (3, 1200), "3 to 1,200")),
        (words, "rate_limited", "rate limited"),
    ],
)
def test_values_are_written_for_people(write, value, text):
    assert write(value) == text


@pytest.mark.parametrize(
    ("told", "text"),
    [({}, "a, b, c"), ({"most": 2}, "a, b and 1 more"), ({"of": 1_203}, "a, b, c and 1,200 more")],
)
def test_the_first_names_tell_how_many_more_there_are(told, text):
    assert few(["a", "b", "c"], **told) == text


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (0.0, "0 pts"),
        (0.1 + 0.2 - 0.3, "0 pts"),  # which is not quite 0
        (-1e-12, "just below 0"),
        (0.0004, "just above 0"),
        (-0.125, "−12.5 pts"),
        (0.05, "+5 pts"),
    ],
)
def test_points_that_round_to_0_say_on_which_side_they_are(difference, text):
    assert points(difference) == text
