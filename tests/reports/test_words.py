"""How figures read."""

from decimal import Decimal

import pytest

from evalhub.llm.errors import CallErrorKind
from evalhub.statistics.interval import Interval
from reports.templatetags.report import advice, between, flipped, percent, score, seconds, usd


@pytest.mark.parametrize(
    ("share", "text"), [(0.625, "62.5%"), (1.0, "100%"), (0.0, "0%"), (None, "—")]
)
def test_shares(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (None, "not measured"),
        (Decimal(0), "$0.00"),
        (Decimal("1234.5"), "$1,234.50"),
        (Decimal("0.012345"), "$0.012"),
        (Decimal("0.00000001"), "<$0.0001"),
    ],
)
def test_money(dollars, text):
    assert usd(dollars) == text


@pytest.mark.parametrize(
    ("ms", "text"), [(None, "—"), (840, "840 ms"), (1200, "1.2 s"), (65_000, "1 min 5 s")]
)
def test_times(ms, text):
    assert seconds(ms) == text


@pytest.mark.parametrize(("value", "text"), [(None, "—"), (0, "0"), (0.5, "0.5"), (2 / 3, "0.67")])
def test_scores(value, text):
    assert score(value) == text


def test_the_failure_rates_interval_mirrors_the_pass_rates():
    assert between(Interval(0.2, 0.5)) == "20–50%"
    assert flipped(Interval(0.2, 0.5)) == "50–80%"
    assert flipped(None) == "—"


@pytest.mark.parametrize("kind", list(CallErrorKind))
def test_every_kind_of_error_has_advice(kind):
    assert advice(kind.value)
