import pytest

from runs.scoring.active_evaluation_rule import Evaluation, active_evaluations, human_score_of


def evaluation(annotator, value, kind="evaluation"):
    return Evaluation(annotator, kind, value)


def withdrawal(annotator):
    return Evaluation(annotator, "withdrawal", None)


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ([], None),
        ([evaluation(1, 0), evaluation(1, 1)], [1]),
        ([evaluation(1, 0), evaluation(1, 1), withdrawal(1)], [0]),
        ([evaluation(1, 0), withdrawal(1)], None),
        ([evaluation(1, 0), evaluation(2, 1), withdrawal(1)], [1]),
    ],
)
def test_newest_evaluation_of_each_annotator_that_was_not_withdrawn_is_active(given, values):
    found = human_score_of(given)
    assert (found and found.values) == values


def test_second_withdrawal_without_anything_left_does_nothing():
    assert active_evaluations([withdrawal(1), evaluation(1, 1)]) == [evaluation(1, 1)]


def test_annotators_who_differ_are_disputed():
    verdict = human_score_of([evaluation(1, 0), evaluation(2, 1)])
    assert (verdict.score, verdict.is_disputed) == (0.5, True)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_adjudication_outranks_all(value):
    given = [evaluation(1, 0), evaluation(2, 1), evaluation(3, value, "adjudication")]
    verdict = human_score_of([*given, evaluation(1, 0.5)])
    assert (verdict.values, verdict.is_disputed) == ([value], False)
