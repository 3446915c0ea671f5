from evalhub.display.formatting import between
from evalhub.statistics.interval import Interval


def test_the_failure_rates_interval_mirrors_the_pass_rates():
    assert between(Interval(0.2, 0.5).complement()) == "50–80%"
