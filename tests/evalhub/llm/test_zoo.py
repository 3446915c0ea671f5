"""Replies as servers send them, by family in `zoo`, each with what is to be read in it.

`litellm` is the provider as which litellm asks for it; those in OpenAI's form are `direct`, too.
`usage` is input, output, cached, cache-written and reasoning tokens; `cost_usd` is at 2, 10, 0.5
and 2.5 dollars per million of the first four, or what is charged.
"""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from evalhub.llm import gateway
from evalhub.llm.completion import Completion
from evalhub.llm.errors import CallError
from evalhub.llm.providers.openai_replies import chat_of
from tests.evalhub.llm.endpoints import QUESTION, make_endpoint
from tests.provider import Provider, Reply

ZOO = [
    pytest.param(reply, id=reply["from"])
    for file in sorted(Path(__file__).with_name("zoo").glob("*.json"))
    for reply in json.loads(file.read_text())
]
DIRECT = [one for one in ZOO if one.values[0]["direct"]]
PRICES = {
    **{"input_usd_per_mtok": Decimal(2), "output_usd_per_mtok": Decimal(10)},
    **{"cached_usd_per_mtok": Decimal("0.5"), "cache_write_usd_per_mtok": Decimal("2.5")},
}


def test_the_zoo_is_large():
    assert len(ZOO) > len(DIRECT) >= 60


@pytest.fixture(scope="module")
def server():
    with Provider() as provider:
        yield provider


def body_of(reply):
    return reply["body"] if isinstance(reply["body"], str) else json.dumps(reply["body"])


@pytest.mark.parametrize("reply", DIRECT)
def test_a_reply_is_read_straight(reply):
    try:
        completion = chat_of(make_endpoint("", **PRICES), None, Completion(reply=body_of(reply)))
    except CallError as error:
        check(error.completion, reply, error.kind)
    else:
        check(completion, reply)


@pytest.mark.parametrize("reply", ZOO)
def test_a_reply_is_read_by_litellm(reply, server, run, settings):
    settings.EVALHUB_ALLOWED_ADDRESSES = [f"127.0.0.1:{server.port}"]
    server.script = lambda request: Reply(body=body_of(reply))
    base = server.base_url.replace("/v1", "/any")
    endpoint = make_endpoint(base, litellm_model=f"{reply['litellm']}/m", **PRICES)
    try:
        completion = run(gateway.complete(endpoint, QUESTION, {}))
    except CallError as error:
        check(error.completion, reply, error.kind)
    else:
        check(completion, reply)


def check(completion, reply, error=""):
    calls = [one["function"] for one in completion.tool_calls]
    usage = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens")
    found = {
        "error": error,
        "text": completion.text,
        "reasoning": completion.reasoning,
        "refusal": completion.refusal,
        "may_hold_reasoning": completion.may_hold_reasoning,
        "calls": [[one["name"], json.loads(one["arguments"])] for one in calls],
        "ending": completion.ending,
        "choice_error": completion.error,
        "usage": [getattr(completion, name) for name in (*usage, "reasoning_tokens")],
        "cost_usd": None if completion.cost_usd is None else str(completion.cost_usd),
        "charged_usd": None if completion.charged_usd is None else str(completion.charged_usd),
    }
    nothing = {
        **{"text": "", "reasoning": "", "refusal": "", "may_hold_reasoning": False, "calls": []},
        **{"ending": "", "choice_error": "", "usage": [None] * 5, "audio_output_tokens": None},
        **{"cost_usd": None, "charged_usd": None, "error": ""},
    }
    expected = nothing | {name: value for name, value in reply.items() if name in nothing}
    for name in ("cost_usd", "charged_usd"):
        found[name], expected[name] = (
            one and Decimal(one) for one in (found[name], expected[name])
        )
    found["audio_output_tokens"] = completion.audio_output_tokens or None
    assert found == expected
