"""Disputes, and their adjudication."""

import pytest
from django.core.exceptions import ValidationError

from runs.scoring.active_evaluation_rule import Evaluation
from runs.scoring.dispute_rule import Dispute, dispute_over, dispute_over_result
from runs.scoring.human_evaluation import HumanVerdict, evaluate, withdraw
from tests.factories import first_result, make_user
from tests.reports.judged_runs import judged
from tests.runs.rubric_runs import rubric_run


def said(annotator, value, kind="evaluation"):
    return Evaluation(annotator, kind, value)


def withdrawal(annotator):
    return Evaluation(annotator, "withdrawal", None)


DIFFER = [said(1, 1), said(2, 0)]
SETTLED = [*DIFFER, said(3, 1, "adjudication")]


@pytest.mark.parametrize(
    ("given", "parties", "by"),
    [
        pytest.param([said(1, 1), said(2, 1)], None, None, id="equal verdicts"),
        pytest.param([*DIFFER, said(3, 0)], {1, 2, 3}, None, id="all on either side"),
        pytest.param([*DIFFER, said(3, 1), withdrawal(3)], {1, 2}, None, id="one withdrew"),
        pytest.param([*DIFFER, said(2, 1)], None, None, id="changed verdict"),
        pytest.param(SETTLED, {1, 2}, 3, id="adjudicated, by no party"),
        pytest.param([*SETTLED, withdrawal(3)], {1, 2}, None, id="withdrawn adjudication"),
        pytest.param([*SETTLED, said(4, 0, "adjudication")], {1, 2}, 4, id="newest adjudication"),
    ],
)
def test_a_dispute_has_all_who_differ_as_parties_and_ends_by_adjudication(given, parties, by):
    assert dispute_over(given) == (parties and Dispute(frozenset(parties), by))


def test_a_dispute_over_criteria_is_one_over_the_result_unless_the_whole_is_decided():
    over = Dispute(frozenset({1, 2}), None)
    assert dispute_over_result([], {7: DIFFER, 8: [said(3, 1)]}) == over
    assert dispute_over_result([said(3, 1)], {7: DIFFER}) is None
    whole = [said(9, 0, "adjudication")]
    assert dispute_over_result(whole, {7: DIFFER, 8: DIFFER}) == over._replace(settled_by=9)


@pytest.mark.parametrize(("settled", "by"), [((True, True), 9), ((True, False), None)])
def test_a_dispute_over_two_criteria_takes_an_adjudication_of_each(settled, by):
    criteria = {
        key: [said(1, 1), said(2, 0), *([said(9, 1, "adjudication")] if done else [])]
        for key, done in enumerate(settled)
    }
    assert dispute_over_result([], criteria) == Dispute(frozenset({1, 2}), by)


# Who may settle ----------------------------------------------------------------------------------


@pytest.fixture
def disputed(db):
    """A result on which two adjudicators differ, and the two."""
    result = first_result(judged([1]))
    people = [make_user("adjudicator"), make_user("adjudicator")]
    for annotator, option in zip(people, "10", strict=True):
        evaluate(result, HumanVerdict(option, "So I think."), by=annotator)
    result.refresh_from_db()
    return result, people


def settle(result, by, option="1", criterion=""):
    human_verdict = HumanVerdict(option, "Read again.", kind="adjudication", criterion=criterion)
    return evaluate(result, human_verdict, by=by)


def test_a_third_person_settles_it(disputed):
    result, _ = disputed
    settle(result, make_user("adjudicator"))
    result.refresh_from_db()
    assert (result.is_disputed, result.outcome) == (False, "passed")


@pytest.mark.parametrize("place", [0, 1])
def test_a_party_cannot_adjudicate(disputed, place):
    result, people = disputed
    with pytest.raises(ValidationError, match="somebody else has to resolve it"):
        settle(result, people[place])
    assert result.evaluations.count() == 2


def test_withdrawing_first_ends_the_dispute(disputed):
    """Else one could withdraw, and then outrank the other."""
    result, (first, _) = disputed
    withdraw(result, by=first)
    with pytest.raises(ValidationError, match="There is no dispute"):
        settle(result, first)


def test_an_adjudicator_may_change_their_decision(disputed):
    result, _ = disputed
    judge = make_user("adjudicator")
    settle(result, judge)
    settle(result, judge, "0")
    result.refresh_from_db()
    assert result.outcome == "failed"


def test_an_adjudication_needs_a_dispute(db):
    result = first_result(judged([1]))
    evaluate(result, HumanVerdict("0", "Wrong."), by=make_user("annotator"))
    with pytest.raises(ValidationError, match="There is no dispute"):
        settle(result, make_user("adjudicator"))


def test_a_criterion_is_adjudicated_by_a_third_annotator(db):
    criteria = [{"text": "Is polite."}, {"text": "Is short."}]
    run = rubric_run(criteria, {"Is polite.": [1], "Is short.": [1]})
    result = first_result(run)
    polite, short = result.revision.criteria.exclude(key="").values_list("key", flat=True)
    people = [make_user("adjudicator"), make_user("adjudicator")]
    for annotator, option in zip(people, ("UNMET", "FULLY_MET"), strict=True):
        evaluate(result, HumanVerdict(option, "So.", criterion=polite), by=annotator)
    third = make_user("adjudicator")
    evaluate(result, HumanVerdict("UNMET", "Long.", criterion=short), by=third)

    with pytest.raises(ValidationError, match="somebody else"):
        settle(result, people[0], "UNMET", polite)
    with pytest.raises(ValidationError, match="There is no dispute"):
        settle(result, third, "UNMET", short)
    settle(result, third, "UNMET", polite)

    result.refresh_from_db()
    assert not result.is_disputed
