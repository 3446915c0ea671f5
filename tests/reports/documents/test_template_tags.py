"""What a report's template tags say."""

import pytest

from evalhub.llm.errors import CallErrorKind
from evalhub.statistics.interval import Interval
from reports.run.error_advice import advice
from reports.templatetags.report import flipped


def test_the_failure_rates_interval_mirrors_the_pass_rates():
    assert flipped(Interval(0.2, 0.5)) == "50–80%"
    assert flipped(None) == "—"


@pytest.mark.parametrize("kind", list(CallErrorKind))
def test_every_kind_of_error_has_advice(kind):
    assert advice(kind.value)
