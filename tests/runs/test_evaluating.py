"""People's verdicts are appended, and refused in words where they make no sense."""

import pytest
from django.core.exceptions import ValidationError

from evalhub.models import ItemState
from runs.evaluating import Ballot, evaluate, evaluate_many, withdraw
from runs.models import ChosenBy, HumanEvaluation
from tests.factories import make_run, make_test, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def person():
    return make_user("annotator")


def answered(n=1):
    run = make_run(*[make_test(f"Question {k}") for k in range(n)])
    run.results.update(state=ItemState.DONE)
    return list(run.results.order_by("pk"))


@pytest.mark.parametrize("state", [ItemState.ERROR, ItemState.PENDING, ItemState.CANCELLED])
def test_result_without_an_answer_cannot_be_evaluated(person, state):
    (result,) = answered()
    result.state = state
    with pytest.raises(ValidationError, match="no answer"):
        evaluate(result, Ballot("1", "Fine."), by=person)
    assert not HumanEvaluation.objects.exists()


@pytest.mark.parametrize("option", ["2", "", "pass", "0.5"])
def test_option_that_is_not_on_the_scale_is_named(person, option):
    (result,) = answered()
    with pytest.raises(ValidationError, match="not one of 0, 1"):
        evaluate(result, Ballot(option, "Fine."), by=person)


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_reason_is_asked_for(person, reason):
    (result,) = answered()
    with pytest.raises(ValidationError, match="why"):
        evaluate(result, Ballot("1", reason), by=person)


def test_withdrawal_is_not_an_evaluation(person):
    (result,) = answered()
    with pytest.raises(ValidationError, match="withdraw"):
        evaluate(result, Ballot("1", "Fine.", kind="withdrawal"), by=person)


def test_nothing_is_deleted_or_changed(person):
    (result,) = answered()
    evaluate(result, Ballot("1", "Fine."), by=person)
    evaluate(result, Ballot("0", "Not fine."), by=person)
    withdraw(result, by=person, reason="A slip.")
    kinds = HumanEvaluation.objects.order_by("pk").values_list("kind", "value", "justification")
    assert list(kinds) == [
        ("evaluation", 1.0, "Fine."),
        ("evaluation", 0.0, "Not fine."),
        ("withdrawal", None, "A slip."),
    ]


def test_nobody_withdraws_what_somebody_else_said(person):
    (result,) = answered()
    evaluate(result, Ballot("1", "Fine."), by=person)
    with pytest.raises(ValidationError, match="no evaluation"):
        withdraw(result, by=make_user("annotator"))


def test_how_an_item_was_chosen_is_recorded(person):
    (result,) = answered()
    ballot = Ballot("1", "Fine.", chosen_by=ChosenBy.QUEUE_RANDOM, blind=True, seconds=12)
    evaluation = evaluate(result, ballot, by=person)
    assert (evaluation.chosen_by, evaluation.blind, evaluation.seconds) == (
        "queue_random",
        True,
        12,
    )


def test_bulk_does_what_it_can_and_says_what_it_could_not(person):
    results = answered(3)
    results[1].state = ItemState.ERROR
    outcomes = evaluate_many(results, Ballot("0", "All wrong."), by=person)
    assert [evaluation.result for evaluation in outcomes.done] == [results[0], results[2]]
    (problem,) = outcomes.problems
    assert f"result {results[1].pk}" in problem
