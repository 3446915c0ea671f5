"""Replies of a real HTTP provider to one request of a draft: read, repaired, or asked for again."""

import asyncio
import json

import pytest

from evalhub.llm import gateway
from evalhub.work.calls.direct_caller import DirectCaller
from evalhub.work.limits.budget import Gate
from issues.drafting.asking import ask
from issues.drafting.prompts import Material, Target, answer_request, input_request
from issues.drafting.prompts import test_prompt as prompt_of
from issues.drafting.settings import Task
from issues.limits import DRAFT_TRIES
from tests.evalhub.llm.endpoints import make_endpoint
from tests.issues.drafting.writers import Writer, make_settings
from tests.provider import EMPTY, REFUSED

GOOD = json.dumps({"Answer": "Come at ten.", "rationale": "Kind."})


@pytest.fixture
def asked(provider, monkeypatch):
    """Asks for what a request wants; gives the outcome."""
    monkeypatch.setattr("evalhub.llm.retry.BASE_S", 0.01)

    def once(request, writer):
        provider.script = writer
        caller = DirectCaller(work_key="x", item_id=None, gate=Gate())

        async def run():
            try:
                return await ask(request, make_endpoint(provider.base_url), caller)
            finally:
                await gateway.close()

        return asyncio.run(run())

    return once


def answer_of(settings):
    inputs = [(name, "When?") for name in settings.inputs]
    return answer_request(settings, inputs, Target("Yes", "It is polite."), Material())


@pytest.mark.parametrize(
    ("replies", "kinds"),
    [
        ([REFUSED, GOOD], ["answer", "answer"]),
        ([EMPTY, GOOD], ["answer", "answer"]),
        (["{broken", GOOD], ["answer", "repair"]),
        (['{"Answer": "Come at ten." // kind\n, "rationale": "Kind."}'], ["answer"]),
        (['{"Answer": Come at ten., "rationale": "Kind."}'], ["answer"]),
        (["```json\n" + GOOD + "\n```\n```"], ["answer"]),
    ],
)
def test_a_reply_is_read_repaired_or_asked_for_again(asked, replies, kinds):
    writer = Writer(answer=[*replies], repair=[GOOD])

    found = asked(answer_of(make_settings()), writer)

    assert found.texts is not None
    assert found.texts["Answer"].rstrip(".") == "Come at ten"
    assert writer.kinds == kinds


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ([REFUSED] * 3, "It has no JSON object."),
        ([REFUSED, *[json.dumps({"Answer": REFUSED.text, "rationale": "x"})] * 2], "refusal"),
        ([json.dumps({"Answer": " ", "rationale": "x"})], "is empty"),
        ([json.dumps({"rationale": "x"})], "'Answer' is missing"),
        (["{'Answer"], "JSON is broken"),
    ],
)
def test_nothing_is_made_of_a_refusal_or_a_blank_and_tries_are_bounded(asked, replies, reason):
    writer = Writer(answer=[*replies], repair=[replies[-1]] * 3)

    found = asked(answer_of(make_settings()), writer)

    assert found.texts is None
    assert reason in found.failures[-1].reason
    assert len(writer.kinds) == len(found.failures) == DRAFT_TRIES
    shown = replies[-1] if isinstance(replies[-1], str) else replies[-1].text
    assert found.failures[-1].reply == shown


@pytest.mark.parametrize("name", ["assistant_message", "text", "rationale", "A b"])
@pytest.mark.parametrize("task", list(Task))
def test_fields_of_every_task_may_have_any_name(asked, task, name):
    settings = make_settings(task=task, answer_name=name, variables=["user_text"])

    given = asked(input_request(settings, Material()), Writer()).texts
    answer = asked(answer_of(settings), Writer()).texts

    assert prompt_of(task, [*given.items()]).endswith("What about user_text?")
    assert answer[name].startswith("The shop opens")
