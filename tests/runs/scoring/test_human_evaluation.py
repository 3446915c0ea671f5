"""People's verdicts are appended, and refused in words where they make no sense."""

import pytest
from django.core.exceptions import ValidationError

from evalhub.models import ItemState
from issues.models import Polarity
from issues.rubrics import scales
from runs.models import Approach, ChosenBy, HumanEvaluation, Judge
from runs.scoring.human_evaluation import HumanVerdict, evaluate, evaluate_bulk, withdraw
from tests.factories import make_jury, make_model, make_run, make_template, make_test, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def annotator():
    return make_user("annotator")


def answered(n=1):
    run = make_run(*[make_test(f"Question {k}") for k in range(n)])
    run.results.update(state=ItemState.DONE)
    return list(run.results.order_by("pk"))


@pytest.mark.parametrize("state", [ItemState.ERROR, ItemState.PENDING, ItemState.CANCELLED])
def test_result_without_an_answer_cannot_be_evaluated(annotator, state):
    (result,) = answered()
    result.state = state
    with pytest.raises(ValidationError, match="no answer"):
        evaluate(result, HumanVerdict("1", "Fine."), by=annotator)
    assert not HumanEvaluation.objects.exists()


@pytest.mark.parametrize("option", ["2", "", "pass", "0.5"])
def test_option_that_is_not_on_the_scale_is_named(annotator, option):
    (result,) = answered()
    with pytest.raises(ValidationError, match="not one of 0, 1"):
        evaluate(result, HumanVerdict(option, "Fine."), by=annotator)


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_reason_is_asked_for(annotator, reason):
    (result,) = answered()
    with pytest.raises(ValidationError, match="Enter a reason"):
        evaluate(result, HumanVerdict("1", reason), by=annotator)


def test_withdrawal_is_not_an_evaluation(annotator):
    (result,) = answered()
    with pytest.raises(ValidationError, match="withdraw"):
        evaluate(result, HumanVerdict("1", "Fine.", kind="withdrawal"), by=annotator)


def test_nothing_is_deleted_or_changed(annotator):
    (result,) = answered()
    evaluate(result, HumanVerdict("1", "Fine."), by=annotator)
    evaluate(result, HumanVerdict("0", "Not fine."), by=annotator)
    withdraw(result, by=annotator, reason="A slip.")
    kinds = HumanEvaluation.objects.order_by("pk").values_list("kind", "value", "justification")
    assert list(kinds) == [
        ("evaluation", 1.0, "Fine."),
        ("evaluation", 0.0, "Not fine."),
        ("withdrawal", None, "A slip."),
    ]


def test_nobody_withdraws_an_evaluation_by_somebody_else(annotator):
    (result,) = answered()
    evaluate(result, HumanVerdict("1", "Fine."), by=annotator)
    with pytest.raises(ValidationError, match="no evaluation"):
        withdraw(result, by=make_user("annotator"))


def test_how_an_item_was_chosen_is_recorded(annotator):
    (result,) = answered()
    human_verdict = HumanVerdict(
        "1", "Fine.", chosen_by=ChosenBy.QUEUE_RANDOM, blind=True, seconds=12
    )
    evaluation = evaluate(result, human_verdict, by=annotator)
    assert (evaluation.chosen_by, evaluation.blind, evaluation.seconds) == (
        "queue_random",
        True,
        12,
    )


def test_bulk_reports_the_results_that_it_skipped(annotator):
    results = answered(3)
    results[1].state = ItemState.ERROR
    outcomes = evaluate_bulk(results, HumanVerdict("0", "All wrong."), by=annotator)
    assert [evaluation.result for evaluation in outcomes.done] == [results[0], results[2]]
    (problem,) = outcomes.problems
    assert f"result {results[1].pk}" in problem


# One criterion -----------------------------------------------------------------------------------


def answered_rubric(*criteria, jury=None):
    run = make_run(make_test(criteria=criteria), jury=jury)
    run.results.update(state=ItemState.DONE)
    result = run.results.get()
    return result, list(result.revision.criteria.exclude(key="").values_list("key", flat=True))


def test_a_verdict_on_one_criterion_scores_it_alone(annotator):
    result, (polite, short) = answered_rubric({"text": "Is polite."}, {"text": "Is short."})
    evaluate(result, HumanVerdict("FULLY_MET", "It is.", criterion=polite), by=annotator)
    evaluate(result, HumanVerdict("UNMET", "It is not.", criterion=short), by=annotator)

    result.refresh_from_db()
    assert (result.score, result.is_overridden) == (0.5, True)


def test_showing_what_it_should_not_is_bad(annotator):
    rude = {"text": "Is rude.", "polarity": Polarity.SHOULD_NOT}
    result, (key,) = answered_rubric(rude)
    evaluate(result, HumanVerdict("FULLY_MET", "It is rude.", criterion=key), by=annotator)

    result.refresh_from_db()
    assert (result.evaluations.get().value, result.score) == (1, 0)


def test_a_verdict_on_the_whole_outranks_those_on_criteria(annotator):
    result, (key,) = answered_rubric({"text": "Is polite."})
    evaluate(result, HumanVerdict("UNMET", "It is not.", criterion=key), by=annotator)
    evaluate(result, HumanVerdict("1", "All in all it will do."), by=annotator)

    result.refresh_from_db()
    assert result.score == 1


def test_withdrawing_a_criterion_leaves_the_whole_and_vice_versa(annotator):
    result, (key,) = answered_rubric({"text": "Is polite."})
    evaluate(result, HumanVerdict("UNMET", "It is not.", criterion=key), by=annotator)
    evaluate(result, HumanVerdict("1", "All in all it will do."), by=annotator)

    withdraw(result, by=annotator, criterion=key)
    result.refresh_from_db()
    assert result.score == 1
    with pytest.raises(ValidationError, match="no evaluation of this criterion"):
        withdraw(result, by=annotator, criterion=key)
    withdraw(result, by=annotator)
    result.refresh_from_db()
    assert (result.score, result.is_overridden) == (None, False)


def test_a_criterion_that_is_not_in_the_rubric_is_named(annotator):
    result, _ = answered_rubric({"text": "Is polite."})
    with pytest.raises(ValidationError, match="no criterion 'other'"):
        evaluate(result, HumanVerdict("1", "So.", criterion="other"), by=annotator)


def test_a_criterion_is_judged_on_the_scale_of_the_wording_asked(annotator):
    seven = make_template(scale=scales.as_json(scales.ONE_TO_SEVEN))
    jury = make_jury()
    jury.judges.add(
        Judge.objects.given(make_model(), approach=Approach.PROMPT_AWARE, template=seven)
    )
    result, (key,) = answered_rubric({"text": "Is polite."}, jury=jury)

    evaluate(result, HumanVerdict("7", "It is.", criterion=key), by=annotator)
    with pytest.raises(ValidationError, match="not one of 1, 2, 3, 4, 5, 6, 7"):
        evaluate(result, HumanVerdict("FULLY_MET", "It is.", criterion=key), by=annotator)


def test_what_a_check_decides_is_shown_or_not(annotator):
    result, (key,) = answered_rubric({"check_name": "contains", "arguments": {"text": "4"}})

    evaluate(result, HumanVerdict("1", "It is there.", criterion=key), by=annotator)
    assert result.evaluations.get().option == "shown"
    with pytest.raises(ValidationError, match="not one of not shown, shown"):
        evaluate(result, HumanVerdict("FULLY_MET", "It is.", criterion=key), by=annotator)
