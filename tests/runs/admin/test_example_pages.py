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
    person = make_user("annotator")
    client.force_login(person)
    return person


@pytest.fixture
def maintainer(client):
    person = make_user("maintainer")
    client.force_login(person)
    return person


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
    evaluation, other = verdict(annotator), verdict(annotator)
    assert "Mark as example" in page_of(client, evaluation.result)
    page = send(client, evaluation, act="mark", note="Numbers <b>alone</b>.").content.decode()
    assert "labelled example" in page
    assert "Numbers &lt;b&gt;alone&lt;/b&gt;." in page
    assert Example.objects.get().marked_by == annotator
    url = reverse("admin:runs_result_example", args=[other.result_id])
    assert client.post(url, {"evaluation": evaluation.pk}).status_code == 404  # of another result
    assert "Example removed" in send(client, evaluation, act="unmark").content.decode()
    assert not Example.objects.exists()
    client.force_login(make_user("viewer"))
    assert "Mark as example" not in page_of(client, evaluation.result)


def test_it_leads_back_to_where_it_was_sent_from_on_this_site_only(client, annotator):
    evaluation = verdict(annotator)
    url = reverse("admin:runs_result_example", args=[evaluation.result_id])
    own = reverse("admin:runs_result_change", args=[evaluation.result_id])
    targets = {"/admin/": "/admin/", "https://evil.example.org/": own, "//evil.example.org": own}
    for sent, target in targets.items():
        response = client.post(url, {"evaluation": evaluation.pk, "next": sent})
        assert response.headers["Location"].startswith(target)


def test_on_a_sealed_test_nothing_is_offered_and_why_is_said(client, annotator):
    evaluation = verdict(annotator, make_test(sealed=True))
    assert "Mark as example" not in page_of(client, evaluation.result)
    assert "is sealed" in send(client, evaluation, act="mark").content.decode()
    assert not Example.objects.exists()


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


def test_marked_verdicts_are_listed_with_what_was_judged_and_filtered(client, annotator):
    test, template = make_test("Who wrote it?"), make_template()
    run = judged_run(test, make_test(template=template), answer="Dante did.")
    one, two = run.results.order_by("pk")
    evaluation = evaluate(one, HumanVerdict("0", "Petrarch did."), by=annotator)
    mark(evaluation, "the first", by=annotator)
    mark(evaluate(two, HumanVerdict("1", "It is."), by=annotator), "the second", by=annotator)

    def notes(**filters):
        listed = client.get(LIST, filters).content.decode()
        return [note for note in ("the first", "the second") if note in listed]

    listed = client.get(LIST).content.decode()
    for text in ("Who wrote it?", "Dante did.", "the first", "the second", str(annotator)):
        assert text in listed
    shown = client.get(f"{LIST}{evaluation.pk}/change/").content.decode()
    assert "Petrarch did." in shown
    assert "Dante did." in shown
    assert notes(option="0") == ["the first"]
    lookup = "evaluation__result__revision__template__id__exact"
    assert notes(**{lookup: template.pk}) == ["the second"]
    assert notes(about="criterion") == []
    type(test).objects.filter(pk=test.pk).update(sealed=True)
    assert notes() == ["the first", "the second"]
    client.force_login(make_user("viewer"))
    assert notes() == ["the second"]
    assert client.get(f"{LIST}{evaluation.pk}/change/").status_code in (302, 404)


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


# Copying -----------------------------------------------------------------------------------------


def copy(client, *examples, **sent):
    chosen = {"action": "copy_selected", "_selected_action": [row.pk for row in examples]}
    return client.post(LIST, chosen | sent, follow=True)


def test_examples_are_copied_into_a_draft_alone(client, maintainer):
    example = mark(verdict(maintainer), "", by=maintainer)
    page = copy(client, example, apply="1", template=make_template().pk).content.decode()
    assert "Select a valid choice" in page  # nothing is copied into what is published
    assert "No drafts yet" in page
    template = make_template(state=TemplateState.DRAFT, title="The draft")
    asked = copy(client, example).content.decode()
    assert "The draft" in asked
    assert f'name="_selected_action" value="{example.pk}"' in asked
    page = copy(client, example, apply="1", template=template.pk).content.decode()
    assert "Copied 1 example into" in page
    assert "It is not four." in page
    assert template.examples.get().test == example.evaluation.result.test

    other = make_template(state=TemplateState.DRAFT)
    withdraw(example.evaluation.result, by=maintainer)
    page = copy(client, example, apply="1", template=other.pk).content.decode()
    assert "was withdrawn or replaced" in page
    assert not TemplateExample.objects.filter(template=other).exists()
    client.force_login(make_user("annotator"))
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
