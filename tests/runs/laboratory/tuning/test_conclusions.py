from evalhub.statistics.agreement.kappa_difference import KappaDifference
from evalhub.statistics.interval import Interval
from runs.laboratory.tuning.conclusions import (
    conclusion,
    difference,
    estimate,
    ordinal,
    warnings_of,
)
from runs.laboratory.tuning.figures import MeasuredAttempt
from runs.laboratory.tuning.metrics import MetricDifference, Row, metrics_of

FIGURES = metrics_of([Row(0, 0, True, True), Row(1, 1, False, None)])


def attempted(development, held_out, *, look=1):
    splits = {"development": FIGURES, "held_out": FIGURES}
    return MeasuredAttempt(
        "Try 1", None, splits, {"development": development, "held_out": held_out}, look
    )


def of(value, *bounds, issues=10):
    interval = Interval(*bounds) if bounds else None
    return MetricDifference(KappaDifference(value, interval), 40, issues)


def test_conclusion_is_about_the_held_out_split():
    assert conclusion(attempted(of(0.1), of(0.2, 0.05, 0.4))) == (
        "Significantly better on the held-out split. Kappa +0.2 over 40 answers (95% +0.05 to "
        "+0.4, expanded percentile bootstrap of issues)."
    )
    assert conclusion(attempted(of(0.1), of(-0.2, -0.4, -0.05))) == (
        "Significantly worse on the held-out split. Kappa −0.2 over 40 answers (95% −0.4 to −0.05, "
        "expanded percentile bootstrap of issues)."
    )
    assert conclusion(attempted(of(0.1), of(0.1, -0.05, 0.2))).startswith(
        "No significant difference on the held-out split."
    )
    assert "too few" in conclusion(attempted(of(0.1), of(0.1)))


def test_few_issues_are_named_as_the_reason_of_no_interval():
    assert difference(of(0.1, issues=4)).endswith("not tested: fewer than 10 issues")
    assert difference(of(0.1, issues=10)).endswith("not tested")


def test_overfitting_is_warned_of():
    learnt = of(0.2, 0.1, 0.3)
    (overfitted, _) = warnings_of(attempted(learnt, of(-0.1)))
    assert overfitted.startswith("Overfitted: significantly better on the development split")
    assert (
        "kappa +0.2 over 40 answers (95% +0.1 to +0.3, expanded percentile bootstrap of issues)"
        in overfitted
    )
    assert "kappa −0.1 over 40 answers, not tested" in overfitted
    assert not any("Overfitted" in text for text in warnings_of(attempted(learnt, of(0.1))))


def test_many_looks_prove_less():
    assert not any("look at" in text for text in warnings_of(attempted(of(0.1), of(0.1), look=2)))
    text = " ".join(warnings_of(attempted(of(0.1), of(0.1), look=3)))
    assert "Third look" in text
    assert "proves less" in text
    assert ordinal(7) == "7th"


def test_answers_without_a_verdict_are_counted():
    assert any("2 answers have no verdict" in text for text in warnings_of(attempted(of(0), of(0))))


def test_what_is_not_measured_is_no_number():
    assert estimate(None, None) == "—"
    assert difference(None) == difference(of(None)) == "—"
