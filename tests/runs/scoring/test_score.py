"""Score and outcome from the active judge run and human evaluations; None is not measured."""

from decimal import Decimal

import pytest
from django.utils import timezone

from evalhub.models import ItemState
from issues.rubrics.scales import FIVE_CLASSES, PassRule, Scale, as_json
from runs.judging.activation import set_active
from runs.launching.launch import add_judge_run
from runs.models import Approach, Judge, Judgment
from runs.scoring.human_evaluation import HumanVerdict, evaluate, withdraw
from runs.scoring.score import score_result_scores, score_results
from tests.factories import make_jury, make_model, make_run, make_template, make_test, make_user
from tests.runs.rubric_runs import jury_of, rubric_run

pytestmark = pytest.mark.django_db


def voted(run, *values, judge_run=None, state=ItemState.DONE):
    """The run's result, with one judge's vote for each value; None is a failed judgment."""
    judge_run = judge_run or run.judge_runs.get()
    result = run.results.get()
    result.state = ItemState.DONE
    result.save()
    for judge, value in zip(judge_run.jury["judges"], values, strict=True):
        Judgment.objects.create(
            judge_run=judge_run,
            result=result,
            criterion=result.revision.criteria.get(),
            judge_id=judge["judge"],
            state="failed" if value is None else "ok",
            value=value,
            created_at=timezone.now(),
        )
    judge_run.result_scores.update(state=state)
    score_result_scores(list(judge_run.result_scores.all()))
    result.refresh_from_db()
    return result


def run_with(judges=1, **test_fields):
    jury = make_jury(*[make_model() for _ in range(judges)])
    return make_run(make_test(**test_fields), jury=jury)


def graded(threshold, rule):
    return make_template(scale=as_json(Scale(FIVE_CLASSES.options, threshold, rule)))


def fresh(result):
    result.refresh_from_db()
    return result


# Judges ------------------------------------------------------------------------------------------


def test_mean_is_over_judges_that_answered():
    result = voted(run_with(3), 1.0, None, 1.0)
    assert (result.score, result.outcome) == (1.0, "passed")
    result_score = result.result_scores.get()
    assert (result_score.answered, result_score.expected) == (2, 3)


def test_no_vote_at_all_is_unscored_and_no_score():
    result = voted(run_with(2), None, None)
    assert (result.score, result.passed, result.outcome) == (None, None, "unscored")


def test_answer_without_verdict_yet_is_pending():
    assert voted(run_with(1), 1.0, state=ItemState.PENDING).is_judged is False


@pytest.mark.parametrize(
    ("rule", "outcome"), [(PassRule.STRICT, "failed"), (PassRule.INCLUSIVE, "passed")]
)
def test_score_at_the_threshold_goes_by_the_templates_rule(rule, outcome):
    result = voted(run_with(1, template=graded(0.75, rule)), 0.75)
    assert result.outcome == outcome


def test_threshold_of_the_test_outranks_its_templates():
    result = voted(run_with(1, template=graded(0.25, PassRule.STRICT), pass_threshold=0.75), 0.5)
    assert result.outcome == "failed"


def test_mean_that_only_rounding_keeps_from_the_threshold_meets_it():
    # (0.1 + 0.2) / 2 is 0.15000000000000002 in floats, which is not above 0.15.
    run = run_with(2, pass_threshold=0.15)
    assert voted(run, 0.1, 0.2).outcome == "failed"


def test_error_stays_an_error_whatever_is_scored():
    run = run_with(1)
    result = voted(run, 1.0)
    result.state = ItemState.ERROR
    result.save()
    score_results([result.pk])
    assert fresh(result).outcome == "error"


def test_result_score_that_ended_in_an_error_is_unscored():
    run = run_with(1)
    result = run.results.get()
    run.results.update(state=ItemState.DONE)
    run.judge_runs.get().result_scores.update(state=ItemState.ERROR)
    score_results([result.pk])
    assert fresh(result).outcome == "unscored"


def test_second_judge_run_counts_when_it_is_made_current_and_no_sooner():
    run = run_with(1)
    first = run.judge_runs.get()
    voted(run, 1.0)
    jury = make_jury(make_model())
    second = add_judge_run(run, list(jury.judges.all()), name="second", active=False)
    result = voted(run, 0.0, judge_run=second)
    assert result.outcome == "passed"

    set_active(second)
    assert fresh(result).outcome == "failed"
    set_active(first)
    assert fresh(result).outcome == "passed"
    assert run.judge_runs.filter(is_active=True).get() == first


# People ------------------------------------------------------------------------------------------


def say(result, option, *, by=None, kind="evaluation"):
    result.refresh_from_db()
    person = by or make_user("annotator")
    evaluate(result, HumanVerdict(option, "Because.", kind=kind), by=person)
    return person


def test_person_outranks_judges_and_leaves_their_result_score():
    result = voted(run_with(2), 0.0, 0.0)
    say(result, "1")
    assert (fresh(result).score, result.outcome) == (1.0, "passed")
    assert result.result_scores.get().score == 0.0


def test_person_who_evaluates_while_judges_still_run_is_not_overwritten():
    run = run_with(1)
    run.results.update(state=ItemState.DONE)
    result = run.results.get()
    say(result, "0")
    assert fresh(result).outcome == "failed"

    assert voted(run, 1.0).outcome == "failed"
    assert result.is_overridden


def test_withdrawing_everything_brings_the_judges_back():
    result = voted(run_with(1), 0.0)
    person = say(result, "1")
    say(result, "0", by=person)
    withdraw(result, by=person)
    assert fresh(result).outcome == "passed"
    withdraw(result, by=person)
    assert (fresh(result).outcome, result.is_overridden) == ("failed", False)


def test_dispute_on_both_sides_of_the_line_is_unscored_with_its_mean():
    result = voted(run_with(1), 1.0)
    say(result, "1")
    say(result, "0")
    assert (fresh(result).score, result.passed, result.outcome) == (0.5, None, "unscored")
    assert result.is_disputed


def test_dispute_on_one_side_passes_and_is_flagged():
    result = voted(run_with(1, template=graded(0.5, PassRule.STRICT)), 0.0)
    say(result, "MOSTLY_MET")
    say(result, "FULLY_MET")
    assert (fresh(result).score, result.outcome, result.is_disputed) == (0.875, "passed", True)


def test_dispute_with_one_at_the_line_goes_by_the_rule():
    result = voted(run_with(1, template=graded(0.5, PassRule.INCLUSIVE)), 0.0)
    say(result, "MODERATELY_MET")
    say(result, "FULLY_MET")
    assert fresh(result).outcome == "passed"


def bounds(result):
    result.refresh_from_db()
    found = result.lowest_score, result.highest_score
    return (*found, result.lowest_passed, result.highest_passed)


def test_nothing_is_missing_of_what_people_decide():
    result = voted(run_with(2), 1.0, None)
    assert bounds(result) == (0.5, 1, False, True)
    person = say(result, "1")
    assert bounds(result) == (1, 1, True, True)
    say(result, "0")
    assert bounds(result) == (0, 1, False, True)
    withdraw(result, by=person)
    assert bounds(result) == (0, 0, False, False)

    run = rubric_run([{"text": "Is right."}, {"text": "Is short."}], {"Is right.": [None]})
    result = run.results.get()
    assert bounds(result) == (0, 1, False, True)  # There is no score.
    say_of(result, "Is short.", "FULLY_MET")
    assert (bounds(result), result.score) == ((0.5, 1, False, True), 1)


def test_adjudication_settles_a_dispute_and_its_withdrawal_reopens_it():
    result = voted(run_with(1), 1.0)
    say(result, "1")
    say(result, "0")
    judge = say(result, "0", kind="adjudication")
    assert (fresh(result).outcome, result.is_disputed) == ("failed", False)

    withdraw(result, by=judge)
    assert (fresh(result).outcome, result.is_disputed) == ("unscored", True)


def test_money_is_not_touched_by_scoring():
    run = run_with(1)
    run.results.update(cost_usd=Decimal("0.25"))
    assert voted(run, 1.0).cost_usd == Decimal("0.25")


# Criteria ----------------------------------------------------------------------------------------


def say_of(result, text, *options):
    """One person's verdict for each option, on the criterion with this text."""
    key = result.revision.criteria.get(text=text).key
    for option in options:
        human_verdict = HumanVerdict(option, "Because.", criterion=key)
        evaluate(result, human_verdict, by=make_user("annotator"))
    return fresh(result)


def test_dispute_over_two_criteria_is_looked_at_from_its_ends():
    # At best Is right is shown and Insults is not, which passes; at worst it is the other way.
    run = rubric_run([{"text": "Is right."}, {"text": "Insults.", "polarity": "should_not"}], {})
    result = run.results.get()
    say_of(result, "Is right.", "UNMET", "FULLY_MET")
    say_of(result, "Insults.", "UNMET", "FULLY_MET")
    assert (result.score, result.passed, result.is_disputed) == (0.5, None, True)


def test_dispute_that_decides_nothing_leaves_the_outcome_and_is_flagged():
    rubric = [{"text": "Is right."}, {"text": "Insults.", "polarity": "should_not", "weight": 0.1}]
    result = rubric_run(rubric, {"Is right.": [1]}).results.get()
    say_of(result, "Insults.", "UNMET", "FULLY_MET")
    assert (result.passed, result.is_disputed) == (True, True)


def test_person_on_one_criterion_does_not_end_the_waiting_for_the_judges():
    run = make_run(make_test(criteria=[{"text": "Is right."}, {"text": "Is short."}]))
    run.results.update(state=ItemState.DONE)
    result = run.results.get()
    assert say_of(result, "Is right.", "FULLY_MET").outcome == "pending"
    assert say_of(result, "Is short.", "FULLY_MET").outcome == "passed"


@pytest.mark.parametrize(
    ("rubric", "votes", "coverage"),
    [
        # A retry: the judge of the first answered after all, that of the second failed with its
        # backup.
        (("Is right.", "Is short."), ([1, 1], [None, None]), (1, 0, 2)),
        (("Is right.",), ([None, 1],), (0, 1, 1)),
    ],
)
def test_backup_makes_good_on_its_own_criterion_only(rubric, votes, coverage):
    backup = Judge.objects.given(make_model(), approach=Approach.PROMPT_AWARE)
    said = dict(zip(rubric, votes, strict=True))
    run = rubric_run([{"text": text} for text in rubric], said, jury=jury_of(1, backup=backup))
    result_score = run.results.get().result_scores.get()
    found = result_score.answered, result_score.replaced, result_score.expected
    assert found == coverage
