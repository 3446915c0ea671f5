import pytest

from evalhub.statistics.agreement.kappa_difference import KappaDifference
from evalhub.statistics.interval import Interval
from issues.rubrics.scales import BINARY, ONE_TO_SEVEN
from runs.laboratory.tuning.metrics import (
    Conclusion,
    Frozen,
    MetricDifference,
    PassLine,
    Row,
    compared,
    is_overfitted,
    metrics_of,
    pass_line_of,
)


def rows(*said, issues=2):
    """Rows from pairs (people, judge), spread over so many issues."""
    return [Row(n, n % issues, *pair) for n, pair in enumerate(said)]


PASS_PASS, PASS_FAIL, FAIL_FAIL = (True, True), (True, False), (False, False)


def test_figures_of_a_split():
    # 4 passed by both, 1 false alarm, 3 failed by both, 1 that the judge could not say: n 8.
    # Same: 7/8. Chance: (5·4 + 3·4)/64 = 0.5. Kappa: (0.875 - 0.5)/0.5 = 0.75.
    found = metrics_of(rows(*[PASS_PASS] * 4, PASS_FAIL, *[FAIL_FAIL] * 3, (True, None)))
    assert (found.n, found.failed) == (8, 1)
    assert found.kappa == pytest.approx(0.75)
    assert found.accuracy.precision == pytest.approx(3 / 4)
    assert found.accuracy.recall == 1


def test_nothing_measured_is_none():
    found = metrics_of([])
    assert (found.n, found.kappa, found.accuracy.accuracy) == (0, None, None)


def test_only_what_both_judged_is_compared():
    before = rows(PASS_PASS, FAIL_FAIL, PASS_FAIL, (False, None))
    after = rows(PASS_PASS, FAIL_FAIL, (True, None), FAIL_FAIL)
    assert compared(before, after).n == 2


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (Interval(0.01, 0.4), Conclusion.BETTER),
        (Interval(-0.1, 0.4), Conclusion.UNCERTAIN),
        (Interval(-0.4, -0.01), Conclusion.WORSE),
        (None, Conclusion.UNKNOWN),
    ],
)
def test_conclusion_follows_the_interval(interval, expected):
    assert MetricDifference(KappaDifference(0.1, interval), 40, 10).conclusion is expected


def of(value, *bounds):
    return MetricDifference(KappaDifference(value, Interval(*bounds) if bounds else None), 40, 10)


def test_better_on_the_development_split_only_is_overfitted():
    learnt = of(0.2, 0.1, 0.3)
    assert is_overfitted(learnt, of(0.0))
    assert is_overfitted(learnt, of(-0.1))
    assert not is_overfitted(learnt, of(0.1))
    assert not is_overfitted(of(-0.2, -0.3, -0.1), of(-0.3))
    assert not is_overfitted(of(None), of(0.0))


def test_a_gain_that_may_be_chance_is_not_overfitted():
    assert not is_overfitted(of(0.2), of(-0.1))
    assert not is_overfitted(of(0.2, -0.1, 0.5), of(-0.1))


def test_test_with_its_templates_line_follows_the_draft():
    own = Frozen("", False, BINARY.threshold, BINARY.rule)
    assert pass_line_of(own, BINARY, ONE_TO_SEVEN).passed(3 / 6) is True
    assert pass_line_of(own, BINARY, BINARY).passed(0.5) is False


def test_test_with_a_line_of_its_own_keeps_it():
    strict = Frozen("", False, 0.8, BINARY.rule)
    assert pass_line_of(strict, BINARY, ONE_TO_SEVEN).passed(4 / 6) is False


def test_showing_what_is_bad_fails():
    line = pass_line_of(Frozen("c1", True, 0.9, BINARY.rule), BINARY, BINARY)
    assert line == PassLine(0.5, BINARY.rule, True)
    assert (line.passed(1.0), line.passed(0.0), line.passed(None)) == (False, True, None)
