"""A raw prompt from its test to the provider, the pages, the API and the judges."""

from html import unescape

import pytest
from django.urls import reverse
from django.utils.html import escape

from evalhub.models import Call
from issues.content.revisions import asked_digest, content_of
from runs.launching.answer_files import read_objects
from runs.launching.imported_answers import import_answers
from runs.launching.launch_options import LaunchRefused, LaunchSpec
from runs.launching.launch_selection import select
from runs.models import Result
from tests.api import client_of
from tests.factories import make_jury, make_model, make_run, make_test, make_user
from tests.provider import RATE_LIMITED, prompt, verdict

pytestmark = pytest.mark.django_db

PROMPT = "<|start_of_role|>user<|end_of_role|>Two & two?<|end_of_text|>\n<|assistant|> "
RAW = [{"role": "raw_prompt", "content": PROMPT}]


@pytest.mark.django_db(transaction=True)
def test_a_run_of_both_kinds_sends_each_to_its_endpoint(provider, model_at, work):
    refusals = [RATE_LIMITED]

    def script(request):
        if "prompt" in request and refusals:
            return refusals.pop()
        return verdict(1) if "response_format" in request else "Four."

    provider.script = script
    raw, chat = make_test(messages=RAW), make_test("Chat?")
    model = model_at(params={"max_tokens": 50})
    run = make_run(raw, chat, model=model, jury=make_jury(model_at()))
    work()

    assert list(run.results.values_list("state", flat=True)) == ["done", "done"]
    sent = dict.fromkeys(provider.paths)
    assert set(sent) == {"/v1/completions", "/v1/chat/completions"}
    bodies = [body for body in provider.requests if "prompt" in body]
    assert [body["prompt"] for body in bodies] == [PROMPT, PROMPT]
    assert bodies[0]["max_tokens"] == 50
    result = raw.results.get()
    assert result.answer.text == "Four."
    attempts = Call.objects.filter(role="candidate", item_id=result.pk).order_by("attempt")
    assert [call.error_kind for call in attempts] == ["rate_limited", ""]
    judged = [prompt(body) for body in provider.requests if "response_format" in body]
    assert sum(PROMPT in text for text in judged) == 1


@pytest.mark.django_db(transaction=True)
def test_a_missing_endpoint_fails_raw_prompts_alone_and_says_what_to_do(
    provider, model_at, work, client
):
    provider.completes = False
    raw, chat = make_test(messages=RAW), make_test("Chat?")
    make_run(raw, chat, model=model_at(), jury=None)
    work()

    failed = raw.results.get()
    assert (failed.state, chat.results.get().state) == ("error", "done")
    assert "needs a text-completion endpoint" in failed.error_message
    client.force_login(make_user("viewer"))
    page = client.get(reverse("admin:runs_result_change", args=[failed.pk])).content.decode()
    assert "needs a text-completion endpoint" in page
    assert "Raw prompt</span>" in page
    assert f'<pre class="eh-pre" dir="auto">{escape(PROMPT)}</pre>' in page


def test_preview_and_api_show_the_text_alone(client):
    test = make_test(messages=RAW)
    user = make_user("viewer")
    client.force_login(user)

    page = unescape(
        client.get(reverse("admin:issues_test_preview", args=[test.pk])).content.decode()
    )
    shown = client_of(user).get(reverse("api-test-model-request", args=[test.pk])).json()

    assert f">{PROMPT}</pre>" in page
    assert "Sent as it is to the text-completion endpoint" in page
    assert "system prompt" not in page
    assert shown == {"messages": RAW, "tools": []}


def test_answers_made_elsewhere_are_imported():
    test = make_test(messages=RAW)
    spec = {"label": "given", "tests": [test.pk], "models": [make_model().pk]}

    answers = read_objects([{"test": test.pk, "answer": "Four."}])
    run = import_answers(LaunchSpec.model_validate(spec), answers, by=None)

    assert run.results.get().answer.text == "Four."


def test_a_raw_prompt_is_another_request_than_a_single_prompt():
    raw, single = make_test(messages=RAW), make_test(PROMPT)
    assert asked_digest(content_of(raw)) != asked_digest(content_of(single))


def test_a_launch_with_a_system_prompt_is_refused():
    test = make_test(messages=RAW)
    spec = {"label": "one", "tests": [test.pk], "models": [make_model().pk]}
    select(LaunchSpec.model_validate(spec))

    with pytest.raises(LaunchRefused) as refused:
        select(LaunchSpec.model_validate(spec | {"system_prompts": ["", "Be brief."]}))

    assert refused.value.problems == [
        "Raw prompts are sent without a system prompt: remove it, or select no raw prompts. "
        f"These tests are: {test.pk}."
    ]
    assert not Result.objects.exists()
