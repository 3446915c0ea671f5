"""Tests with images: what a provider gets, and what becomes of models that cannot see."""

import asyncio
import json

import pytest
from django.core.exceptions import ValidationError

from evalhub.llm import gateway
from evalhub.llm.content.content_parts import all_images, images_in
from evalhub.llm.content.images import store_image
from evalhub.models import Call, CallRole
from evalhub.work.calls.direct_caller import DirectCaller
from evalhub.work.limits.budget import Gate
from issues.content.revisions import freeze
from issues.judge_templates.pairwise_prompt import PairCase, pair_messages
from runs.importers.weval.export import export
from runs.launching.launch_options import LaunchSpec
from runs.launching.launch_selection import select, warnings
from runs.models import Judgment, Suite
from tests.factories import make_jury, make_model, make_run, make_template, make_test
from tests.images import picture, url_of
from tests.provider import Reply, is_judge, verdict

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def image():
    return store_image(picture())


@pytest.fixture
def test(image):
    part = {"type": "image", "image": image.digest, "alt": "a red square"}
    content = [{"type": "text", "text": "What is shown?"}, part]
    return make_test(messages=[{"role": "user", "content": content}], context="A document.")


def images_of(request):
    """The addresses of the images in a request, and the text beside them."""
    content = request["messages"][-1]["content"]
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return urls, "\n".join(part["text"] for part in parts if part["type"] == "text")


@pytest.fixture
def run_of(provider, model_at, work, test):
    def make(*, model=True, judge=True, system_prompt=""):
        provider.script = lambda sent: verdict(1) if is_judge(sent) else "A red square."
        jury = make_jury(model_at(takes_images=judge))
        candidate = model_at(takes_images=model)
        run = make_run(test, model=candidate, jury=jury, system_prompt=system_prompt)
        work()
        return run

    return make


def test_model_and_judge_get_the_image_as_a_data_url(run_of, provider, image):
    run = run_of(system_prompt="Be brief.")
    asked, judged = provider.requests
    url = url_of(bytes(image.content))
    urls, text = images_of(asked)
    assert urls == [url]
    assert text == "<documents>\nA document.\n</documents>\nWhat is shown?"
    assert asked["messages"][0] == {"role": "system", "content": "Be brief."}
    urls, text = images_of(judged)
    assert urls == [url]
    assert "What is shown?\n    [image a red square]" in text
    assert run.results.get().outcome == "passed"


def test_a_model_that_takes_no_images_is_an_error_without_a_call(run_of, provider):
    result = run_of(model=False).results.get()
    assert provider.requests == []
    assert not Call.objects.exists()
    assert (result.state, result.error_kind, result.score) == ("error", "images_not_taken", None)
    assert "takes no images" in result.error_message


def test_a_judge_that_cannot_see_says_so_and_scores_nothing(run_of, provider):
    run = run_of(judge=False)
    judgment = Judgment.objects.get()
    assert (judgment.state, judgment.value) == ("failed", None)
    assert judgment.failure == "images_not_taken"
    assert "takes no images, and the conversation has some" in judgment.failure_message
    assert run.results.get().outcome == "unscored"
    assert not any(map(is_judge, provider.requests))


def test_a_judge_that_is_not_shown_the_input_needs_no_eyes(run_of, test):
    test.template = make_template(text="{{ output }}\n{{ reference }}\n{{ scale }}")
    test.save()
    assert run_of(judge=False).results.get().outcome == "passed"


def test_a_launch_warns_of_models_that_take_no_images(test):
    model, judge = make_model(), make_model(takes_images=True)
    spec = LaunchSpec(label="x", models=[model.pk], tests=[test.pk], jury=make_jury(judge).pk)
    said = [text for text in warnings(spec, select(spec)) if "images" in text]
    assert said == [
        f"These models take no images: {model}. Their results will be errors on tests {test.pk}."
    ]


def test_a_judge_of_pairs_is_shown_the_images(test):
    content = freeze([test])[test.pk].content
    case = PairCase("What?", "a", "b", images=all_images(content["messages"]))
    (message,) = pair_messages(case.reversed(), ties=True)
    assert [part["type"] for part in message["content"]] == ["text", "image"]


def test_an_application_gets_the_text_as_its_prompt_and_images_in_messages(
    provider, work, test, image
):
    provider.script = lambda sent: Reply(body=json.dumps({"reply": "Red."}))
    model = make_model(
        kind="application",
        api_base=provider.application_url,
        litellm_model="",
        body={"ask": "{{ prompt }}", "messages": "{{ messages }}"},
        answer_path="$.reply",
        takes_images=True,
    )
    model.full_clean()
    make_run(test, model=model)
    work()
    (asked,) = provider.requests
    text = "<documents>\nA document.\n</documents>\nWhat is shown?"
    assert asked["ask"] == f"{text}\n[image]"
    assert images_of(asked) == ([url_of(bytes(image.content))], text)


def test_an_application_that_gets_no_messages_takes_no_images():
    model = make_model(
        kind="application",
        api_base="https://bot.example.org/ask",
        body={"ask": "{{ prompt }}"},
        answer_path="$.reply",
        takes_images=True,
    )
    with pytest.raises(ValidationError, match="Images go in messages only"):
        model.full_clean()


@pytest.mark.parametrize("streams", [True, False])
def test_trying_a_test_sends_its_image_too(provider, model_at, test, image, streams):
    caller = DirectCaller(work_key="try 1", item_id=None, gate=Gate())
    endpoint = model_at(takes_images=True).endpoint()

    async def asked():
        try:
            if streams:
                taken: list[str] = []
                await caller.stream(
                    endpoint, test.messages, role=CallRole.CANDIDATE, take=taken.append
                )
            else:
                await caller.call(endpoint, test.messages, {}, role=CallRole.CANDIDATE)
        finally:
            await gateway.close()

    asyncio.run(asked())
    assert images_of(provider.requests[0]) == ([url_of(bytes(image.content))], "What is shown?")


def test_a_blueprint_keeps_the_image(test, image):
    suite = Suite.objects.create(name="pictures")
    suite.tests.add(test)
    exported = export(suite)
    assert "messages of several parts" in " ".join(map(str, exported.notes))
    (prompt,) = exported.blueprint.prompts
    assert images_in(prompt.messages) == [image.digest]
