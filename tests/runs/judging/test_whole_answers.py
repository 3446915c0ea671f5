"""All that a model says reaches its judges, its next turn and its readers, whole or broken off."""

import base64
import json
from io import BytesIO

import pytest
from django.urls import reverse
from PIL import Image as Picture

from evalhub.models import Call, Image
from runs.comparison.comparability import comparability_of
from runs.models import Judgment, Run
from tests.api import client_of, ids
from tests.factories import make_jury, make_run, make_test, make_user
from tests.provider import Reply, is_judge, prompt, verdict

pytestmark = pytest.mark.django_db(transaction=True)

FUNCTION = {"name": "count_words", "description": "Counts.", "parameters": {"type": "object"}}
TOOLS = [{"type": "function", "function": FUNCTION}]
CALL = {
    "id": "call_7",
    "type": "function",
    "function": {"name": "count_words", "arguments": '{"sentence": 1}'},
}
SHOWN = 'tool call: count_words({"sentence": 1})'
UPSTREAM = {"error": {"code": 502, "message": "Provider disconnected mid-generation"}}


def said(content="Twelve.", finish="stop", choice=None, **message):
    """A reply as servers send it, with whatever is beside its text."""
    message = {"role": "assistant", "content": content, **message}
    choice = {"index": 0, "message": message, "finish_reason": finish, **(choice or {})}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    return Reply(body=json.dumps({**body, "usage": usage}))


def picture() -> str:
    file = BytesIO()
    Picture.new("RGB", (2, 2), "red").save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


@pytest.fixture
def ask(provider, model_at, work):
    """Answer a test by this reply and judge it; return the run."""

    def asked(reply, *, test=None, judged=None, judge=None, **fields) -> Run:
        def script(request):
            if is_judge(request):
                return judged or verdict(1)
            return reply(request) if callable(reply) else reply

        provider.script = script
        jury = make_jury(model_at(name="Judge", litellm_model="openai/judge", **(judge or {})))
        tests = test if isinstance(test, list) else [test or make_test(tools=TOOLS)]
        run = make_run(*tests, model=model_at(), jury=jury, **fields)
        work()
        run.refresh_from_db()
        return run

    return asked


def judges_prompt(provider) -> str:
    return next(prompt(request) for request in provider.requests if is_judge(request))


def output(provider) -> str:
    return judges_prompt(provider).split("[BEGIN OUTPUT")[1].split("[END OUTPUT")[0]


@pytest.mark.parametrize("content", [None, "I will count."])
def test_judges_see_the_tool_calls_of_an_answer_and_the_tools_offered(ask, provider, content):
    ask(said(content, "tool_calls", tool_calls=[CALL]))
    assert SHOWN in output(provider)
    assert (content or "") in output(provider)
    assert "Tools that the model could call:\n- count_words" in judges_prompt(provider)


def test_judges_of_criteria_see_the_calls_of_every_turn(ask, provider):
    turns = [
        {"role": "user", "content": "Count."},
        {"role": "assistant", "content": None},
        {"role": "tool", "tool_call_id": "written", "content": "12"},
        {"role": "assistant", "content": None},
    ]
    test = make_test(messages=turns, tools=TOOLS, criteria=({"text": "It counts."},))
    replies = iter([said(None, "tool_calls", tool_calls=[CALL]), said("Twelve.")])
    run = ask(lambda request: next(replies), test=test)

    assert SHOWN in output(provider)
    assert "Twelve." in output(provider)
    # The next request has the turn as it was, and the tool's result belongs to its call.
    asked = [request for request in provider.requests if not is_judge(request)][1]["messages"]
    assert asked[1] == {"role": "assistant", "content": None, "tool_calls": [CALL]}
    assert asked[2]["tool_call_id"] == "call_7"
    stored = run.results.get().answer.turns
    assert stored[0]["tool_calls"] == [CALL]
    assert stored[0]["finish_reason"] == "tool_calls"


def test_a_refusal_beside_the_text_is_told_as_one(ask, provider):
    run = ask(said(None, refusal="I will not count."))
    assert "refusal: I will not count." in output(provider)
    answer = run.results.get().answer
    said_first = answer.said()[0]
    assert (answer.text, said_first.text) == ("refusal: I will not count.", "")


def test_images_of_an_answer_are_kept_and_shown_to_judges_that_take_them(ask, provider):
    image = {"type": "image_url", "image_url": {"url": picture()}}
    run = ask(said("Here:", images=[image]), judge={"takes_images": True})
    kept = Image.objects.get()
    assert run.results.get().answer.turns[0]["images"] == [{"type": "image", "image": kept.pk}]
    (asked,) = [one["messages"][-1] for one in provider.requests if "Here:" in prompt(one)]
    assert [part["type"] for part in asked["content"]] == ["text", "image_url"]


@pytest.mark.parametrize(
    ("url", "words"),
    [(picture(), "takes no images"), ("https://example.org/a.png", "was not kept")],
)
def test_an_image_that_a_judge_cannot_be_shown_fails_the_judgment_in_words(ask, url, words):
    run = ask(said("Here:", images=[{"type": "image_url", "image_url": {"url": url}}]))
    assert words in Judgment.objects.get().failure_message
    assert run.results.get().outcome == "unscored"


# Whole or broken off -----------------------------------------------------------------------------


# Finish reason and what is beside it: outcome, error kind, ending, tries, words of the error.
ENDS = {
    "length": ({}, "passed", "", "length", 1, ""),
    "MAX_TOKENS": ({}, "passed", "", "length", 1, ""),
    "FinishReason.MAX-TOKENS": ({}, "passed", "", "length", 1, ""),
    "content_filter": ({}, "error", "content_filtered", "content_filter", 1, "content filter"),
    "SAFETY": ({}, "error", "content_filtered", "content_filter", 1, "SAFETY"),
    "MODEL_ARMOR": ({}, "error", "content_filtered", "content_filter", 1, "MODEL_ARMOR"),
    "error": (UPSTREAM, "error", "broken_off", "error", 5, "disconnected mid-generation"),
    "stop": (UPSTREAM, "error", "broken_off", "error", 5, "disconnected mid-generation"),
    "network_error": ({}, "error", "broken_off", "error", 5, "network_error"),
    "abort": ({}, "error", "broken_off", "abort", 5, "abort"),
}


def test_answers_that_broke_off_are_judged_and_marked_or_errors_that_say_why(
    ask, provider, subtests
):
    def reply(request):
        finish = next(one for one in ENDS if prompt(request) == one)
        return said("Twelve, and", finish, ENDS[finish][0])

    run = ask(reply, test=[make_test(finish) for finish in ENDS])
    results = {one.revision.content["messages"][0]["content"]: one for one in run.results.all()}
    for finish, (_, outcome, kind, ending, tries, words) in ENDS.items():
        with subtests.test(finish):
            found = results[finish]
            assert (found.outcome, found.error_kind, found.ending) == (outcome, kind, ending)
            assert words in found.error_message
            calls = Call.objects.filter(batch=run.work_key, item_id=found.pk)
            assert calls.count() == tries
    assert "[cut off at the token limit]" in output(provider)


def test_an_error_that_passes_is_tried_again(ask):
    replies = iter([said("Twel", "error", UPSTREAM), said()])
    result = ask(lambda request: next(replies)).results.get()
    assert (result.outcome, result.ending, result.answer.text) == ("passed", "", "Twelve.")


@pytest.mark.parametrize(
    ("finish", "handling", "outcome"),
    [
        ("length", {"cut_off_answers": "failed"}, "failed"),
        ("length", {"cut_off_answers": "error"}, "error"),
        ("content_filter", {"broken_off_answers": "judged"}, "passed"),
        ("content_filter", {"broken_off_answers": "failed"}, "failed"),
    ],
)
def test_a_run_handles_answers_that_broke_off_as_chosen_at_launch(
    ask, provider, finish, handling, outcome
):
    run = ask(said("Twelve, and", finish), **handling)
    result = run.results.get()
    assert (result.outcome, result.ending) == (outcome, finish)
    assert any(map(is_judge, provider.requests)) == (outcome == "passed")
    usual = make_run(model=run.language_model)
    assert "broke off" in comparability_of(run, usual).cause


@pytest.mark.parametrize("finish", ["length", "error", "content_filter", "abort"])
def test_a_judges_reply_that_broke_off_is_a_failed_judgment(ask, finish):
    run = ask(said(), judged=said(verdict(0), finish, UPSTREAM if finish == "error" else {}))
    judgment = Judgment.objects.get()
    assert (judgment.state, judgment.value) == ("failed", None)
    assert judgment.failure in ("broken_off", "content_filtered")
    assert run.results.get().outcome == "unscored"


def test_answers_that_broke_off_are_told_on_pages_in_files_and_in_the_api(ask, client):
    run = ask(said("Twelve, and", "length", tool_calls=[CALL], refusal="No more."))
    result = run.results.get()
    client.force_login(make_user("maintainer"))

    def page(address, **asked):
        return client.get(address, asked).getvalue().decode()

    report = reverse("reports:run", args=[run.pk])
    assert "1 of 1 answer was cut off at the token limit." in page(report)
    assert f"result/{result.pk}/" in page(report, ending="length")
    assert f"result/{result.pk}/" not in page(report, ending="abort")
    shown = page(reverse("admin:runs_result_change", args=[result.pk]))
    for words in ("cut off at the token limit", "No more.", "count_words"):
        assert words in shown
    listed = reverse("admin:runs_result_changelist")
    assert "Cut off at the token limit" in page(listed, ending="any")
    assert SHOWN in page(reverse("reports:run_csv", args=[run.pk])).replace('""', '"')
    script, results = client_of("maintainer"), reverse("api-result-list")
    assert ids(script.get(results, {"ending": "length"})) == [result.pk]
    assert ids(script.get(results, {"ending": "abort"})) == []
    progress = script.get(f"/api/v1/runs/{run.pk}/progress/").json()
    assert progress["endings"] == {"length": 1}
