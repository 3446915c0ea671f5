"""What the severity of an issue decides."""

from issues.models import Severity
from issues.severity import MAX_FAILURE_RATE, SEVERITIES, WEIGHT, or_worse, severities_from


def test_every_severity_of_an_issue_has_its_limit_and_weight():
    assert list(SEVERITIES) == Severity.values
    assert MAX_FAILURE_RATE.keys() == WEIGHT.keys() == {*SEVERITIES}


def test_a_worse_severity_allows_fewer_failures_and_weighs_more():
    limits, weights = ([of[one] for one in SEVERITIES] for of in (MAX_FAILURE_RATE, WEIGHT))
    assert limits == sorted({*limits}, reverse=True)
    assert weights == sorted({*weights})


def test_a_severity_and_the_worse_ones():
    assert severities_from("high") == ("high", "critical")
    assert or_worse("high") == "high or worse"
    assert or_worse("critical") == "critical"
