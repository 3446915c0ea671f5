from decimal import Decimal

import pytest

from issues.checks import Material
from tests.issues.checks.outcomes import check_errs, check_fails, check_passes, problem


def test_time_at_the_limit_is_within_it():
    check_passes("latency_at_most", Material("", latency_ms=800), ms=800)
    check_fails("latency_at_most", Material("", latency_ms=801), ms=800)
    check_passes("latency_at_most", Material("", latency_ms=801), ms=800, negate=True)


@pytest.mark.parametrize("cost", [0.1 + 0.2, Decimal("0.3"), 0])
def test_cost_at_the_limit_is_within_it(cost):
    check_passes("cost_at_most", Material("", cost_usd=cost), usd=0.3)


def test_cost_above_the_limit():
    check_fails("cost_at_most", Material("", cost_usd=Decimal("0.300001")), usd=0.3)


@pytest.mark.parametrize("negate", [False, True])
def test_what_was_not_measured_is_no_value(negate):
    check_errs("latency_at_most", "text", "not measured", ms=800, negate=negate)
    check_errs("cost_at_most", "text", "not known", usd=0.3, negate=negate)


def test_limits_are_not_below_zero():
    assert "“ms” is -1" in problem("latency_at_most", ms=-1)
    assert "“usd” is -0.1" in problem("cost_at_most", usd=-0.1)
