"""Nothing that a script sends is dropped with success, repeated to others, or a fault of ours."""

from copy import deepcopy
from typing import Any

import pytest

from evalhub.models import Webhook
from issues.models import Feedback, Issue, LibraryCriterion
from runs.models import HumanEvaluation
from tests.api import client_of, problems_in
from tests.factories import (
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_template,
    make_test,
    make_user,
)
from tests.issues.pages import make_feedback

pytestmark = pytest.mark.django_db


def test_a_post_without_its_slash_is_sent_again_as_it_was():
    client, row = client_of("annotator"), {"comment": "Wrong."}

    response = client.post("/api/v1/feedback", row)
    assert (response.status_code, response["Location"]) == (308, "/api/v1/feedback/")
    assert client.post("/api/v1/feedback", row, follow=True).status_code == 201
    assert Feedback.objects.count() == 1


# Read-only fields --------------------------------------------------------------------------------


def refused(response):
    assert response.status_code == 400, response.content
    return set(problems_in(response))


def test_a_read_only_field_that_differs_is_refused():
    user = make_user("superuser")
    client, issue, feedback = client_of(user), make_issue(), make_feedback(rating="down")
    result = make_run(make_test()).results.get()
    verdict = {"result": result.pk, "option": "1", "justification": "Right."}
    theirs = {"annotator": make_user("annotator").username, "created_at": "2026-01-01T00:00:00Z"}

    assert refused(client.post("/api/v1/human-evaluations/", verdict | theirs)) == set(theirs)
    assert refused(client.patch(f"/api/v1/issues/{issue.pk}/", {"state": "resolved"})) == {"state"}
    assert refused(client.patch(f"/api/v1/feedback/{feedback.pk}/", {"rating": "up"})) == {"rating"}
    old = {"comment": "Wrong.", "created_at": "2026-01-01T00:00:00Z"}
    assert refused(client.post("/api/v1/feedback/", old)) == {"created_at"}
    assert not HumanEvaluation.objects.exists()
    assert (Feedback.objects.count(), Issue.objects.get(pk=issue.pk).state) == (1, issue.state)


def test_a_new_row_may_name_what_it_gets_anyway():
    user, issue = make_user("superuser"), make_issue()
    sent = {"issue": issue.pk, "messages": [{"role": "user", "content": "2 + 2?"}]}

    response = client_of(user).post(
        "/api/v1/tests/", {**sent, "state": "draft", "author": user.username, "created_at": None}
    )

    assert response.status_code == 201, response.content


def test_a_row_is_sent_back_as_it_was_read(subtests, settings):
    settings.EVALHUB_KEYS = ["HOOK_KEY@example.org"]
    test = make_test()
    rows = {
        "issues": test.issue,
        "tests": test,
        "feedback": make_feedback(issue=test.issue),
        "judge-templates": make_template(state="draft"),
        "juries": make_jury(make_model()),
        "language-models": make_model(),
        "users": make_user("viewer"),
        "criteria-library": LibraryCriterion.objects.first(),
        "webhooks": Webhook.objects.create(
            name="w", url="https://example.org/", secret_env="HOOK_KEY", kinds=["run_finished"]
        ),
    }
    client = client_of("superuser")
    for name, row in rows.items():
        with subtests.test(name):
            address = f"/api/v1/{name}/{row.pk}/"
            there = client.get(address)
            assert there.status_code == 200, address
            response = client.patch(address, there.json())
            assert response.status_code == 200, response.content


# Secrets -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent",
    [
        {"api_key": "sk-123"},
        {"key": "sk-123"},
        {"api_key_env": "sk-123"},
        {"kind": "application", "headers": "sk-123"},
        {"kind": "application", "headers": {"Authorization": "sk-123"}},
        {"params": {"api_key": "sk-123"}},
    ],
)
def test_a_refused_secret_is_not_repeated(sent):
    model = {"name": "M", "litellm_model": "openai/m", "api_base": "https://m.example.org/"}

    response = client_of("superuser").post("/api/v1/language-models/", model | sent)

    assert response.status_code == 400, response.content
    assert "sk-123" not in response.content.decode()


# Bad values --------------------------------------------------------------------------------------


def spoiled(value):
    """Yield the body with each value in it replaced by one of another kind."""
    if isinstance(value, dict):
        for name in value:
            for other in spoiled(value[name]):
                yield {**value, name: other}
    elif isinstance(value, list):
        for place in range(len(value)):
            for other in spoiled(value[place]):
                yield [*value[:place], other, *value[place + 1 :]]
    others: list[Any] = [{}, [], [{}], None, 7, "\x00"]
    yield from (other for other in others if other != value)


def bodies():
    test, model = make_test(), make_model()
    parts = [{"type": "text", "text": "2 + 2?"}, {"type": "image", "image": "0" * 64, "alt": "a"}]
    said = [{"role": "user", "content": parts}, {"role": "assistant", "content": "5"}]
    calls = [{"id": "1", "type": "function", "function": {"name": "add", "arguments": "{}"}}]
    tools = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]
    criteria = [
        {"text": "Names 4", "polarity": "should", "weight": 1, "alternative": 1, "key": "four"},
        {"check": "contains_any", "arguments": {"texts": ["4"]}},
    ]
    option = {"label": "YES", "description": "Right", "value": 1.0}
    scale = {"options": [option, {**option, "label": "NO", "value": 0.0}], "threshold": 0.5}
    judge = {"language_model": model.pk, "approach": "holistic", "params": {"temperature": 0.5}}
    yield "feedback/", {"messages": said, "rating": "down", "raw": {"a": 1}, "source_id": "a"}
    yield "feedback/batch/", {"feedback": [{"messages": said, "rating": "down"}]}
    yield "issues/", {"title": "T", "tags": ["Math"], "sources": [{"kind": "url", "value": "x"}]}
    yield (
        "tests/",
        {
            "issue": test.issue_id,
            "messages": [{"role": "assistant", "content": None, "tool_calls": calls}, *said[:1]],
            "tools": tools,
            "criteria": criteria,
        },
    )
    yield "tests/bulk/", [{"source_id": "a", "issue": test.issue_id, "criteria": criteria}]
    yield (
        "judge-templates/",
        {"family": "f", "title": "T", "text": "x", "scale": scale, "examples": [{"answer": "4"}]},
    )
    yield "juries/", {"name": "J", "judges": [judge], "backup": {"language_model": model.pk}}
    yield (
        "criteria-library/",
        {"name": "C", "question": "Q?", "scale": scale, "examples": {"passing": [{"answer": "4"}]}},
    )
    yield "suites/", {"name": "S", "tests": [test.pk], "tags": ["Math"]}
    yield (
        "runs/",
        {"label": "r", "tests": [test.pk], "models": [model.pk], "variants": [{"prompt": "x"}]},
    )
    yield (
        "runs/import_answers/",
        {"label": "r", "model": model.pk, "answers": [{"test": test.pk, "text": "4"}]},
    )
    yield "language-models/", {"name": "n", "litellm_model": "openai/n", "params": {"a": 1}}


def test_a_value_of_another_kind_is_no_fault(subtests):
    client = client_of("superuser")
    client.raise_request_exception = False
    for address, body in bodies():
        with subtests.test(address):
            for sent in spoiled(deepcopy(body)):
                response = client.post(f"/api/v1/{address}", sent)
                assert response.status_code < 500, sent
