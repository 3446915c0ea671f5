"""People's verdicts that are marked as examples, and copied into templates."""

import pytest
from django.core.exceptions import ValidationError

from evalhub.refusals import Refused
from issues.models import TemplateState
from issues.rubrics.scales import as_json
from runs.models import Example
from runs.scoring.examples import copy_into, mark, taught_tests, unmark
from runs.scoring.human_evaluation import HumanVerdict, active_among, evaluate, scale_on, withdraw
from tests.factories import first_result, make_template, make_test, make_user
from tests.runs.judged_runs import judged_run
from tests.runs.rubric_runs import rubric_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def annotator():
    return make_user("annotator")


def verdict(annotator, option="0", why="It is not four.", **fields):
    run = judged_run(**fields)
    return evaluate(first_result(run), HumanVerdict(option, why), by=annotator)


def draft(**fields):
    return make_template(state=TemplateState.DRAFT, **fields)


# Marking -----------------------------------------------------------------------------------------


def test_a_verdict_is_marked_with_a_note_and_unmarked_again(annotator):
    evaluation = verdict(annotator)
    example = mark(evaluation, " A bare number is enough. ", by=annotator)
    assert (example.note, example.marked_by) == ("A bare number is enough.", annotator)
    unmark(evaluation, by=annotator)
    assert not Example.objects.exists()


def test_what_was_noted_stays_in_the_history(annotator):
    evaluation = verdict(annotator)
    mark(evaluation, "First.", by=annotator)
    mark(evaluation, "Second.", by=annotator)
    unmark(evaluation, by=annotator)
    history = Example.history.order_by("pk")
    assert [(row.history_type, row.note) for row in history] == [
        ("+", "First."),
        ("~", "Second."),
        ("-", "Second."),
    ]
    assert {row.history_user for row in history} == {annotator}


def test_only_what_is_marked_is_unmarked(annotator):
    with pytest.raises(ValidationError, match="not marked"):
        unmark(verdict(annotator), by=annotator)


def test_a_sealed_test_gives_no_example(annotator):
    with pytest.raises(ValidationError, match=r"is sealed.*every prompt"):
        mark(sealed(verdict(annotator)), "", by=annotator)


def sealed(evaluation):
    test = evaluation.result.test
    test.sealed = True
    test.save()
    return evaluation


def test_a_withdrawn_or_replaced_evaluation_cannot_be_an_example(annotator):
    first = verdict(annotator)
    evaluate(first.result, HumanVerdict("1", "It is."), by=annotator)
    with pytest.raises(ValidationError, match="withdrawn or replaced"):
        mark(first, "", by=annotator)
    withdrawal = withdraw(first.result, by=annotator)
    with pytest.raises(ValidationError, match="is a withdrawal"):
        mark(withdrawal, "", by=annotator)
    assert mark(first, "", by=annotator)


def test_active_evaluations_are_read_in_one_query(annotator, django_assert_num_queries):
    one, two = verdict(annotator), verdict(annotator)
    evaluate(two.result, HumanVerdict("1", "It is."), by=annotator)
    with django_assert_num_queries(1):
        assert active_among([one, two]) == {one.pk}


# Copying -----------------------------------------------------------------------------------------


def test_a_marked_verdict_is_copied_with_what_it_was_given_on(annotator):
    test = make_test("What is 2 + 2?", reference="4", guidelines="Be right.")
    result = first_result(judged_run(test, answer="Five."))
    evaluation = evaluate(result, HumanVerdict("0", "It is not four."), by=annotator)
    template = draft()
    assert copy_into(template, [mark(evaluation, "", by=annotator)], by=annotator) == (1, 0)
    copy = template.examples.get()
    assert (copy.test, copy.input, copy.output) == (test, "What is 2 + 2?", "Five.")
    assert (copy.reference, copy.guidelines, copy.criterion) == ("4", "Be right.", "")
    assert (copy.option, copy.justification) == ("0", "It is not four.")
    assert template.history.first().history_change_reason == "Copied 1 example"


def test_what_is_known_is_counted_apart(annotator):
    template, example = draft(), mark(verdict(annotator), "", by=annotator)
    copy_into(template, [example], by=annotator)
    assert copy_into(template, [example], by=annotator) == (0, 1)


def test_a_verdict_on_a_criterion_teaches_about_it(annotator):
    run = rubric_run([{"text": "It is polite"}], {"It is polite": [1.0, 0.0]}, answer="Please.")
    result = first_result(run)
    criterion = result.revision.criteria.exclude(key="").get()
    scale = scale_on(result, criterion)
    option = scale.options[0]
    human_verdict = HumanVerdict(option.label, "It is.", criterion=criterion.key)
    evaluation = evaluate(result, human_verdict, by=annotator)
    template = draft(text="{{ criterion }} {{ output }}", scale=as_json(scale))
    copy_into(template, [mark(evaluation, "", by=annotator)], by=annotator)
    copy = template.examples.get()
    assert (copy.criterion, copy.option) == ("It is polite", option.label)


def test_withdrawn_evaluations_are_not_copied(annotator):
    evaluation = verdict(annotator)
    example = mark(evaluation, "", by=annotator)
    withdraw(evaluation.result, by=annotator)
    with pytest.raises(Refused, match="withdrawn or replaced"):
        copy_into(draft(), [example], by=annotator)


def test_what_was_sealed_since_is_not_copied(annotator):
    example = mark(verdict(annotator), "", by=annotator)
    sealed(example.evaluation)
    with pytest.raises(Refused, match="is sealed"):
        copy_into(draft(), [example], by=annotator)


def test_tests_of_examples_are_grouped_by_template():
    one, two, test = draft(), draft(), make_test()
    one.examples.create(output="a", option="1", test=test)
    one.examples.create(output="b", option="1", test=test)
    one.examples.create(output="c", option="1")
    assert taught_tests([one.pk, two.pk]) == {one.pk: {test.pk}, two.pk: set()}
