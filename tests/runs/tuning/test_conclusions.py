from evalhub.statistics.interval import Interval
from evalhub.statistics.kappa_difference import KappaDifference
from runs.tuning.conclusions import conclusion, difference, estimate, ordinal, warnings_of
from runs.tuning.figures import MeasuredAttempt
from runs.tuning.metrics import MetricDifference, Row, metrics_of

FIGURES = metrics_of([Row(0, 0, True, True), Row(1, 1, False, None)])


def attempted(development, held_out, *, look=1):
    splits = {"development": FIGURES, "held_out": FIGURES}
    return MeasuredAttempt(
        "Try 1", None, splits, {"development": development, "held_out": held_out}, look
    )


def of(value, *bounds):
    return MetricDifference(KappaDifference(value, Interval(*bounds) if bounds else None), 40)


def test_certainty_is_said_of_the_held_out_split():
    assert conclusion(attempted(of(0.1), of(0.2, 0.05, 0.4))) == (
        "Better on the held-out half: certain. Kappa 0.2 higher (0.05 to 0.4)."
    )
    assert conclusion(attempted(of(0.1), of(-0.2, -0.4, -0.05))) == (
        "Worse on the held-out half: certain. Kappa 0.2 lower (-0.4 to -0.05)."
    )
    assert conclusion(attempted(of(0.1), of(0.1, -0.05, 0.2))).startswith(
        "Better on the held-out half: not certain, it may be chance."
    )
    assert "too few" in conclusion(attempted(of(0.1), of(0.1)))


def test_learning_by_heart_is_warned_of():
    (heart, _) = warnings_of(attempted(of(0.2), of(-0.1)))
    assert "learnt these examples by heart" in heart
    assert not any("by heart" in told for told in warnings_of(attempted(of(0.2), of(0.1))))


def test_many_looks_prove_less():
    assert not any("look at" in told for told in warnings_of(attempted(of(0.1), of(0.1), look=2)))
    told = " ".join(warnings_of(attempted(of(0.1), of(0.1), look=3)))
    assert "third look" in told
    assert "the less it proves" in told
    assert ordinal(7) == "7th"


def test_answers_without_a_verdict_are_said():
    assert any("2 answers have no verdict" in told for told in warnings_of(attempted(of(0), of(0))))


def test_what_is_not_measured_is_no_number():
    assert estimate(None, None) == "—"
    assert difference(None) == difference(of(None)) == "—"
