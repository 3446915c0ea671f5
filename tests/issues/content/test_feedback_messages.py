"""Feedback with a whole conversation: received by every way, shown, and made into a test."""

import json

import pytest
from django.urls import reverse

from issues.content.feedback_messages import with_conversation
from issues.importers.feedback import read
from issues.models import Feedback, Test
from tests.api import client_of, problems_in
from tests.factories import make_issue, make_user
from tests.issues.pages import make_feedback

URL = "/api/v1/feedback/"
BEFORE = [
    {"role": "system", "content": "You sell kettles."},
    {"role": "user", "content": "Do you take returns?"},
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "For how **long**?"},
]
ANSWER = {"role": "assistant", "content": "A year."}


def test_both_ends_of_a_conversation_are_its_prompt_and_answer():
    assert with_conversation({"messages": [*BEFORE, ANSWER]}) == {
        "messages": BEFORE,
        "prompt": "For how **long**?",
        "answer": "A year.",
    }
    assert with_conversation({"messages": [BEFORE[1]]})["messages"] == []
    assert with_conversation({"prompt": "a", "messages": []}) == {"prompt": "a"}


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"messages": "Hello"}, "expected a list"),
        ({"messages": ["Hello"]}, "message 1: expected an object"),
        ({"messages": [{"role": "robot", "content": "x"}]}, 'message 1: role "robot"'),
        ({"messages": [{"role": "user", "content": " "}]}, "needs some text"),
        ({"messages": [{"role": "user", "text": "x"}]}, 'message 1: unknown key "text"'),
        ({"messages": [ANSWER]}, "a user message must come before"),
        ({"messages": BEFORE, "prompt": "Other"}, "is not the last user message"),
        ({"messages": [*BEFORE, ANSWER], "answer": "Other"}, "is not the last message"),
        ({"messages": [BEFORE[1]] * 501}, "the maximum is 500"),
    ],
)
def test_what_is_no_conversation_is_refused_with_its_place(fields, problem):
    with pytest.raises(ValueError, match=problem):
        with_conversation(fields)


@pytest.mark.django_db
def test_a_conversation_sent_to_the_api_becomes_a_test():
    sent = {"messages": [*BEFORE, ANSWER], "source": "shop", "source_id": "7"}

    response = client_of("annotator").post(URL, sent, format="json")
    row = Feedback.objects.get()
    client_of("annotator").post(f"{URL}batch/", {"feedback": [sent]}, format="json")

    assert response.status_code == 201, response.content
    assert (response.json()["messages"], row.answer) == (BEFORE, "A year.")
    assert Feedback.objects.count() == 1
    wrong = client_of("annotator").post(URL, {"messages": [{"role": "user"}]}, format="json")
    assert "message 1" in str(problems_in(wrong)["messages"])


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.jsonl", json.dumps({"messages": [*BEFORE, ANSWER]})),
        ("f.csv", 'conversation\n"' + json.dumps([*BEFORE, ANSWER]).replace('"', '""') + '"'),
    ],
)
def test_a_conversation_in_a_file_is_read_as_in_the_api(name, text):
    (row,) = read(name, text.encode()).rows

    assert (row.fields["messages"], row.fields["answer"]) == (BEFORE, "A year.")
    assert "messages" not in row.fields["raw"]


@pytest.mark.django_db
def test_the_inbox_shows_each_turn_and_makes_a_test_of_them(client):
    feedback = make_feedback(
        **with_conversation({"messages": [*BEFORE, ANSWER]}), issue=make_issue()
    )
    client.force_login(make_user("annotator"))

    page = client.get(reverse("admin:issues_feedback_inbox"), {"item": feedback.pk}).text
    own = client.get(feedback.get_absolute_url()).text
    client.post(reverse("admin:issues_feedback_act", args=[feedback.pk]), {"act": "test"})

    assert "Conversation (4 messages)" in page
    assert "For how <strong>long</strong>?" in page
    assert "You sell kettles." in own
    test = Test.objects.get()
    assert (test.messages, test.flagged_answer) == (BEFORE, "A year.")
