from decimal import Decimal

import pytest

from issues.checks import Material
from tests.issues.checks.outcomes import error_of, problem, score


def test_time_at_the_limit_is_within_it():
    assert score("latency_at_most", Material("", latency_ms=800), ms=800) == 1
    assert score("latency_at_most", Material("", latency_ms=801), ms=800) == 0
    assert score("latency_at_most", Material("", latency_ms=801), ms=800, negate=True) == 1


@pytest.mark.parametrize(
    ("cost", "value"), [(0.1 + 0.2, 1), (Decimal("0.3"), 1), (0, 1), (Decimal("0.300001"), 0)]
)
def test_cost_at_the_limit_is_within_it(cost, value):
    assert score("cost_at_most", Material("", cost_usd=cost), usd=0.3) == value


@pytest.mark.parametrize("negate", [False, True])
def test_what_was_not_measured_is_no_value(negate):
    assert "not measured" in error_of("latency_at_most", "text", ms=800, negate=negate)
    assert "unknown" in error_of("cost_at_most", "text", usd=0.3, negate=negate)


def test_limits_are_not_below_zero():
    assert "“ms” is -1" in problem("latency_at_most", ms=-1)
    assert "“usd” is -0.1" in problem("cost_at_most", usd=-0.1)
