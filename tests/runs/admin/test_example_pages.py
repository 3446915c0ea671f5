"""Labelled examples on pages: marked beside a result, listed, copied into a template draft."""

import pytest
from django.urls import reverse

from issues.models import TemplateExample, TemplateState
from runs.models import Example, HumanEvaluation, Judgment
from runs.scoring.examples import mark
from runs.scoring.human_evaluation import HumanVerdict, evaluate, withdraw
from tests.factories import first_result, make_template, make_test, make_user
from tests.runs.judged_runs import judged_run

pytestmark = pytest.mark.django_db

LIST = "/admin/runs/example/"


@pytest.fixture
def annotator(client):
    annotator = make_user("annotator")
    client.force_login(annotator)
    return annotator


@pytest.fixture
def maintainer(client):
    annotator = make_user("maintainer")
    client.force_login(annotator)
    return annotator


def verdict(annotator, test=None, **fields):
    run = judged_run(test or make_test(), **fields)
    return evaluate(first_result(run), HumanVerdict("0", "It is not four."), by=annotator)


def page_of(client, result):
    return client.get(reverse("admin:runs_result_change", args=[result.pk])).content.decode()


def send(client, evaluation, **sent):
    url = reverse("admin:runs_result_example", args=[evaluation.result_id])
    return client.post(url, {"evaluation": evaluation.pk, **sent}, follow=True)


# Beside a result ---------------------------------------------------------------------------------


def test_a_verdict_is_marked_beside_its_result_and_unmarked(client, annotator):
    evaluation = verdict(annotator)
    assert "Mark as example" in page_of(client, evaluation.result)
    page = send(client, evaluation, act="mark", note="Numbers <b>alone</b>.").content.decode()
    assert "labelled example" in page
    assert "Numbers &lt;b&gt;alone&lt;/b&gt;." in page
    assert Example.objects.get().marked_by == annotator
    assert "Example removed" in send(client, evaluation, act="unmark").content.decode()
    assert not Example.objects.exists()


def test_on_a_sealed_test_nothing_is_offered_and_why_is_said(client, annotator):
    evaluation = verdict(annotator, make_test(sealed=True))
    assert "Mark as example" not in page_of(client, evaluation.result)
    assert "is sealed" in send(client, evaluation, act="mark").content.decode()
    assert not Example.objects.exists()


def test_who_may_not_evaluate_may_not_mark(client, annotator):
    evaluation = verdict(annotator)
    client.force_login(make_user("viewer"))
    assert "Mark as example" not in page_of(client, evaluation.result)
    assert send(client, evaluation, act="mark").status_code == 403


def test_a_verdict_on_another_result_is_not_found(client, annotator):
    evaluation, other = verdict(annotator), verdict(annotator)
    url = reverse("admin:runs_result_example", args=[other.result_id])
    assert client.post(url, {"evaluation": evaluation.pk}).status_code == 404


@pytest.mark.parametrize(
    ("sent", "target"),
    [("/admin/", "/admin/"), ("https://evil.example.org/", None), ("//evil.example.org", None)],
)
def test_it_leads_back_to_where_it_was_sent_from_on_this_site_only(client, annotator, sent, target):
    evaluation = verdict(annotator)
    url = reverse("admin:runs_result_example", args=[evaluation.result_id])
    response = client.post(url, {"evaluation": evaluation.pk, "next": sent})
    own = reverse("admin:runs_result_change", args=[evaluation.result_id])
    assert response.headers["Location"].startswith(target or own)


def test_a_mark_whose_verdict_was_withdrawn_is_flagged(client, annotator):
    evaluation = verdict(annotator)
    mark(evaluation, "n", by=annotator)
    withdraw(evaluation.result, by=annotator)
    assert "Withdrawn or replaced" in page_of(client, evaluation.result)
    assert "withdrawn or replaced" in client.get(LIST).content.decode()


def test_the_page_of_a_result_asks_no_more_for_more_marks(
    client, annotator, django_assert_max_num_queries
):
    evaluation = verdict(annotator)
    url = reverse("admin:runs_result_change", args=[evaluation.result_id])
    client.get(url)
    with django_assert_max_num_queries(60) as before:
        client.get(url)
    for _ in range(3):
        other = evaluate(evaluation.result, HumanVerdict("1", "No."), by=make_user("annotator"))
        mark(other, "n", by=annotator)
    with django_assert_max_num_queries(len(before)):
        page = client.get(url)
    assert page.status_code == 200


# The list ----------------------------------------------------------------------------------------


def test_marked_verdicts_are_listed_with_what_was_judged(client, annotator):
    run = judged_run(make_test("Who wrote it?"), answer="Dante did.")
    evaluation = evaluate(first_result(run), HumanVerdict("0", "Petrarch did."), by=annotator)
    mark(evaluation, "Names matter.", by=annotator)
    listed = client.get(LIST).content.decode()
    for text in ("Who wrote it?", "Dante did.", "Names matter.", str(annotator)):
        assert text in listed
    shown = client.get(f"{LIST}{evaluation.pk}/change/").content.decode()
    assert "Petrarch did." in shown
    assert "Dante did." in shown


def test_the_list_is_as_long_as_its_filters_say(client, annotator):
    one = mark(verdict(annotator), "the first", by=annotator)
    result = first_result(judged_run())
    mark(evaluate(result, HumanVerdict("1", "It is."), by=annotator), "the second", by=annotator)
    assert "the second" in client.get(LIST).content.decode()
    listed = client.get(LIST, {"option": "0"}).content.decode()
    assert "the first" in listed
    assert "the second" not in listed
    template = one.evaluation.result.revision.template_id
    lookup = "evaluation__result__revision__template__id__exact"
    assert "the second" not in client.get(LIST, {lookup: template}).content.decode()
    assert "the first" not in client.get(LIST, {"about": "criterion"}).content.decode()


def test_the_list_takes_as_many_queries_for_many(client, annotator, django_assert_max_num_queries):
    mark(verdict(annotator), "", by=annotator)
    client.get(LIST)
    with django_assert_max_num_queries(60) as few:
        client.get(LIST)
    n = len(few)
    for _ in range(3):
        mark(verdict(annotator), "", by=annotator)
    client.get(LIST)  # records what is shown for the first time
    with django_assert_max_num_queries(n):
        page = client.get(LIST)
    assert page.context["cl"].result_count == 4


def test_marks_of_a_test_sealed_since_are_listed_for_its_readers_only(client, annotator):
    evaluation = verdict(annotator)
    mark(evaluation, "Kept secret.", by=annotator)
    type(evaluation.result.test).objects.update(sealed=True)
    assert "Kept secret." in client.get(LIST).content.decode()
    client.force_login(make_user("viewer"))
    assert "Kept secret." not in client.get(LIST).content.decode()
    assert client.get(f"{LIST}{evaluation.pk}/change/").status_code in (302, 404)


# Copying -----------------------------------------------------------------------------------------


def copy(client, *examples, **sent):
    chosen = {"action": "copy_selected", "_selected_action": [row.pk for row in examples]}
    return client.post(LIST, chosen | sent, follow=True)


def test_examples_are_copied_into_a_draft(client, maintainer):
    template = make_template(state=TemplateState.DRAFT, title="The draft")
    example = mark(verdict(maintainer), "", by=maintainer)
    asked = copy(client, example).content.decode()
    assert "The draft" in asked
    assert f'name="_selected_action" value="{example.pk}"' in asked
    page = copy(client, example, apply="1", template=template.pk).content.decode()
    assert "Copied 1 example into" in page
    assert "It is not four." in page
    assert template.examples.get().test == example.evaluation.result.test


def test_a_refusal_to_copy_says_why_and_what_to_do(client, maintainer):
    template = make_template(state=TemplateState.DRAFT)
    example = mark(verdict(maintainer), "", by=maintainer)
    withdraw(example.evaluation.result, by=maintainer)
    page = copy(client, example, apply="1", template=template.pk).content.decode()
    assert "was withdrawn or replaced" in page
    assert not TemplateExample.objects.exists()


def test_nothing_is_copied_into_what_is_published(client, maintainer):
    example = mark(verdict(maintainer), "", by=maintainer)
    page = copy(client, example, apply="1", template=make_template().pk).content.decode()
    assert "Select a valid choice" in page
    assert "No drafts yet" in page


def test_who_may_not_change_templates_is_not_offered_to_copy(client, annotator):
    mark(verdict(annotator), "", by=annotator)
    assert "copy_selected" not in client.get(LIST).content.decode()


# What judges were asked --------------------------------------------------------------------------


def test_a_page_withholds_a_prompt_with_an_example_sealed_since(client, annotator):
    source = make_test("What is 3 + 1?")
    template = make_template(state=TemplateState.DRAFT)
    template.examples.create(test=source, input="Q", output="Kept secret.", option="1")
    template.state = TemplateState.PUBLISHED
    template.save()
    evaluation = verdict(annotator, make_test("What is 2 + 2?", template=template))
    assert "Kept secret." in page_of(client, evaluation.result)
    source.sealed = True
    source.save()
    assert "Kept secret." in page_of(client, evaluation.result)
    client.force_login(make_user("viewer"))
    page = page_of(client, evaluation.result)
    assert "Kept secret." not in page
    assert "This prompt is hidden" in page
    judgment = Judgment.objects.filter(result=evaluation.result).first()
    url = reverse("admin:runs_result_judgment", args=[evaluation.result_id, judgment.pk])
    assert "Kept secret." not in client.get(url).content.decode()
    assert HumanEvaluation.objects.count() == 1
