"""The form of a test, its preview and its frozen versions."""

import re

import pytest

from issues.content.revisions import freeze
from issues.models import Tag
from tests.factories import make_issue, make_template, make_test
from tests.issues.pages import form_of_a_test, log_in, url

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def annotator(client):
    """Who asks, where a test logs in nobody else."""
    return log_in(client, "annotator")


def initial(client, test):
    return client.get(url("test_change", test.pk)).context["adminform"].form.initial


def test_one_question_is_kept_as_messages_and_comes_back_as_a_question(client):
    issue = make_issue()

    client.post(url("test_add"), form_of_a_test(issue=issue.pk, system_prompt="Be brief."))

    test = issue.tests.get()
    assert test.messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is 2 + 2?"},
    ]
    for saved in (test, make_test("What is 2 + 2?")):  # without a system prompt as well
        shown = initial(client, saved)
        assert (shown["prompt"], shown["messages"]) == ("What is 2 + 2?", None)


def test_a_conversation_is_kept_as_it_was_written_and_comes_back_as_turns(client):
    issue = make_issue()
    turns = '[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null}]'

    client.post(url("test_add"), form_of_a_test(issue=issue.pk, kind="turns", messages=turns))

    test = issue.tests.get()
    assert test.messages[1] == {"role": "assistant", "content": None}
    shown = initial(client, test)
    assert (shown["kind"], shown["messages"]) == ("turns", test.messages)


def test_a_raw_prompt_is_kept_as_written_and_comes_back(client):
    issue, text = make_issue(), " <|user|>\n2 + 2?\n<|assistant|> "
    sent = form_of_a_test(issue=issue.pk, kind="raw", prompt=text.replace("\n", "\r\n"))

    client.post(url("test_add"), sent)

    test = issue.tests.get()
    assert test.messages == [{"role": "raw_prompt", "content": text}]
    page = client.get(url("test_change", test.pk))
    form = page.context["adminform"].form
    assert (form.initial["kind"], form.initial["prompt"]) == ("raw", text)
    assert "raw prompt" in page.context["panel"]["facts"]


@pytest.mark.parametrize(
    ("changes", "field", "problem"),
    [
        ({"kind": "raw", "prompt": " "}, "prompt", "Enter a prompt."),
        ({"kind": "raw", "system_prompt": "Hi"}, "system_prompt", "without a system prompt"),
        ({"kind": "raw", "context": "Sums."}, "context", "without documents"),
        ({"kind": "raw", "tools": '[{"type": "function"}]'}, "tools", "without tools"),
        ({"prompt": " "}, "prompt", "Enter a prompt."),
        ({"kind": "turns", "messages": ""}, "messages", "Enter at least one message"),
        ({"kind": "turns", "messages": "[1]"}, "messages", "Message 1: expected an object"),
        ({"kind": "turns", "messages": "{"}, "messages", "Enter a valid JSON."),
        ({"weight": 20}, "weight", "less than or equal to 10"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(client, changes, field, problem):
    response = client.post(url("test_add"), form_of_a_test(issue=make_issue().pk, **changes))

    assert problem in str(response.context["adminform"].form.errors[field])


def test_a_new_test_starts_with_its_issue_and_a_siblings_judge_run(client):
    sibling = make_test(guidelines="Only numbers count.")

    page = client.get(url("test_add"), {"issue": sibling.issue_id})

    initial = page.context["adminform"].form.initial
    assert (initial["issue"], initial["guidelines"]) == (sibling.issue_id, "Only numbers count.")
    assert initial["template"] == sibling.template


def test_a_test_is_judged_like_a_sibling_on_demand(client):
    sibling = make_test(guidelines="Only numbers count.")
    test = make_test(issue=sibling.issue, state="draft")

    client.post(url("test_copy", test.pk), {"sibling": sibling.pk})

    test.refresh_from_db()
    assert (test.guidelines, test.template) == ("Only numbers count.", sibling.template)


def test_an_annotators_change_of_an_approved_test_calls_for_review(client):
    test = make_test()

    client.post(
        url("test_change", test.pk),
        form_of_a_test(issue=test.issue_id, guidelines="Looser.", template=test.template_id),
    )

    test.refresh_from_db()
    assert (test.state, test.guidelines) == ("in_review", "Looser.")


def test_the_preview_shows_the_prompt_for_the_answer_that_was_typed(client):
    log_in(client, "viewer")
    test = make_test()

    page = client.post(url("test_preview", test.pk), {"answer": "It is <b>5</b>."})

    assert "It is &lt;b&gt;5&lt;/b&gt;." in page.content.decode()
    assert "[BEGIN OUTPUT" in page.context["prompt"]


def test_revisions_are_listed_and_readable(client):
    log_in(client, "viewer")
    test = make_test("Frozen words")
    revision = freeze([test])[test.pk]

    assert "1" in client.get(url("test_change", test.pk)).content.decode()
    assert "Frozen words" in client.get(url("revision_change", revision.pk)).content.decode()


def test_published_templates_are_offered_and_the_one_it_has(client):
    published = make_template(title="Correct?")
    own, other = (make_template(title=title, state="draft") for title in ("Mine", "Other"))
    test = make_test(template=own)
    page = url("test_change", test.pk)

    html = client.get(page).content.decode()
    refused = client.post(page, form_of_a_test(issue=test.issue_id, template=other.pk))

    offered = re.findall(r'<option value="(\d+)"[^>]*>([^<]*) v1</option>', html)
    assert {(str(row.pk), row.title) for row in (published, own)} <= set(offered)
    assert str(other.pk) not in dict(offered)
    assert "not one of the available choices" in refused.content.decode()


def test_issue_and_tags_of_a_test_are_selected(client):
    test = make_test(issue=make_issue(title="Sums"))
    test.tags.add(Tag.objects.create(name="Math"))

    html = client.get(url("test_change", test.pk)).content.decode()

    assert re.search(r"<option[^>]*selected[^>]*>Math</option>", html)
    assert re.search(r"<option[^>]*selected[^>]*>Sums</option>", html)
