"""Parameters that endpoints refuse, in the wordings of public documents and issue trackers."""

import pytest

from evalhub.llm import capabilities, gateway
from evalhub.llm.capabilities import SYSTEM, listed, refused_parameter
from evalhub.llm.errors import CallError
from evalhub.llm.parameters import merged, own_params
from tests.evalhub.llm.endpoints import QUESTION, make_endpoint
from tests.provider import Reply, failure

SENT = dict.fromkeys(
    ("temperature", "max_tokens", "max_completion_tokens", "top_p", "response_format", "tools")
) | dict.fromkeys(("reasoning_effort", "presence_penalty", "stop", "logprobs", "extra_body"))

REFUSED = """
temperature Unsupported value: 'temperature' does not support 0 with this model. Only the default
temperature Unsupported parameter: 'temperature' is not supported with this model.
temperature `temperature` is deprecated for this model.
temperature `temperature` may only be set to 1 when thinking is enabled.
temperature `temperature` and `top_p` cannot both be specified for this model. Please use only one.
temperature invalid temperature: only 1 is allowed for this model
temperature gpt-5 models don't support temperature=0. Only temperature=1 is supported.
temperature openai does not support parameters: ['temperature'], for model=o3-mini.
temperature invalid temperature: only 0.6 is allowed for this model
top_p invalid top_p: only 0.95 is allowed for this model
top_p `top_p` must be unset when thinking is enabled or in adaptive mode
max_tokens Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'.
max_tokens Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.
max_completion_tokens {"type":"extra_forbidden","loc":["body","max_completion_tokens"]}
top_p {"message": "top_p is not supported with this model"}
presence_penalty Model grok-4 does not support parameter presencePenalty.
presence_penalty Penalty 'presence_penalty' is not enabled for this model
reasoning_effort Unrecognized request argument supplied: reasoning_effort
reasoning_effort property 'reasoning_effort' is unsupported
reasoning_effort "llama3" does not support thinking
logprobs Invalid JSON payload received. Unknown name "logprobs": Cannot find field.
stop {"error": {"message": "Unsupported parameter: 'stop'", "param": "stop"}}
stop Argument not supported on this model: stop
response_format Invalid parameter: 'response_format' of type 'json_schema' is not supported.
response_format This model does not support structured outputs.
response_format Invalid schema for response_format 'reply': 'maxLength' is not permitted.
response_format output_format: Extra inputs are not permitted
response_format failed to parse grammar
response_format JSON mode is not enabled for models/gemma-3-27b-it
response_format The specified schema produces a constraint that has too many states for serving.
system role {"object":"error","message":"System role not supported","code":400}
system role 'messages[0].role' does not support 'system' with this model.
system role Developer instruction is not enabled for models/gemma-3
system role Conversation roles must alternate user/assistant/user/assistant/...
system role Error: Jinja Exception: Only user and assistant roles are supported!
system role invalid params, chat content has invalid message role: system (2013)
- max_tokens is too large: 80000. This model supports at most 4096 completion tokens.
- temperature must be between 0 and 2, other values are not supported
- top_k must be positive
- tools are not supported by this model
- Please stop: unknown conversation
- Something unknown went wrong
"""


def test_the_parameter_that_a_refusal_names(subtests):
    for case in REFUSED.strip().splitlines():
        name, text = case.replace(SYSTEM, "system_role", 1).split(" ", 1)
        with subtests.test(case):
            found = refused_parameter(text, text, SENT, has_system=True, has_schema=True)
            assert (found[0] if found else "-") == name.replace("system_role", SYSTEM)


def test_what_litellm_knows_of_models():
    assert listed("anthropic/claude-opus-4-7")["temperature"] is False
    assert listed("openai/gpt-5-mini")["tools"] is True
    assert listed("openai/scripted") == {}


@pytest.fixture
def strict(provider, allowed):
    """An endpoint as strict as Azure's of a reasoning model; it takes no system role either."""

    def script(request):
        if request.get("temperature", 1) != 1:
            return failure(400, "'temperature' does not support 0. Only the default (1) value is.")
        if "max_tokens" in request:
            return failure(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.")
        if "response_format" in request:
            return failure(400, "Invalid parameter: 'response_format' of type 'json_schema'.")
        if any(message["role"] == "system" for message in request["messages"]):
            return failure(400, "System role not supported")
        return "Four."

    provider.script = script
    capabilities.follow(1, {})
    yield make_endpoint(provider)
    capabilities.follow(1, {})


def test_a_refused_parameter_is_left_out_and_learnt_once(strict, provider, run):
    messages = [{"role": "system", "content": "Be brief."}, *QUESTION]
    asked = ({"temperature": 0, "max_tokens": 9, "tools": []}, {"type": "object"})

    first, second = (run(gateway.complete(strict, messages, *asked)) for _ in range(2))

    assert provider.total == 5 + 1
    assert first.sent_params == second.sent_params == {"max_completion_tokens": 9}
    assert first.refused_params.keys() == {"temperature", "response_format", SYSTEM}
    assert first.refused_params["temperature"] == 0
    assert (first.learnt.keys(), second.learnt) == ({*first.refused_params, "max_tokens"}, {})
    assert provider.requests[-1]["messages"] == [
        {"role": "user", "content": f"Be brief.\n\n{QUESTION[0]['content']}"}
    ]


def test_a_server_that_only_streams_is_asked_for_a_stream(strict, provider, run):
    def script(request):
        if not request.get("stream"):
            return failure(400, "This model only support stream mode, please enable it.")
        return "Four, it is four."

    provider.script = script
    first, second = (run(gateway.complete(strict, QUESTION, {})) for _ in range(2))
    assert (first.text, second.text) == ("Four, it is four.",) * 2
    assert (provider.total, first.output_tokens is None) == (3, False)


def test_tool_calls_that_reach_the_token_limit_are_cut(strict, provider, run):
    call = {"id": "c1", "type": "function", "function": {"name": "say", "arguments": "{}"}}
    provider.script = lambda request: Reply("Cut", tool_calls=[call], finish_reason="tool_calls")
    endings = [run(gateway.complete(strict, QUESTION, {"max_tokens": n})).ending for n in (1, 99)]
    assert endings == ["length", ""]


def test_the_only_value_that_is_taken_is_sent(strict, provider, run):
    run(gateway.complete(strict, QUESTION, {"temperature": 0}))
    completion = run(gateway.complete(strict, QUESTION, {"temperature": 1}))
    assert completion.refused_params == {}
    assert provider.requests[-1]["temperature"] == 1


def test_what_is_refused_without_it_too_is_not_learnt(strict, provider, run):
    provider.script = lambda request: failure(400, "Unsupported parameter: 'temperature'")
    with pytest.raises(CallError) as caught:
        run(gateway.complete(strict, QUESTION, {"temperature": 0}))
    assert (caught.value.kind, provider.total) == ("bad_request", 2)
    assert capabilities.refused_by(1) == {}


def test_the_question_itself_is_never_changed(strict, provider, run):
    provider.script = lambda request: failure(400, "tools are not supported by this model")
    with pytest.raises(CallError):
        run(gateway.complete(strict, QUESTION, {"tools": [{"type": "function"}]}))
    assert provider.total == 1


@pytest.mark.parametrize(
    ("of_model", "own", "sent"),
    [
        ({}, {}, {"temperature": 0, "max_tokens": 100}),
        ({"temperature": 1, "max_tokens": 500}, {}, {"temperature": 1, "max_tokens": 500}),
        ({"max_completion_tokens": 500}, {}, {"temperature": 0, "max_completion_tokens": 500}),
        ({"temperature": None, "max_tokens": None}, {}, {}),
        ({"max_completion_tokens": 50, "max_tokens": None}, {"temperature": None}, "longer"),
        ({"max_completion_tokens": 500}, {"max_tokens": 5}, {"temperature": 0, "max_tokens": 5}),
        ({"temperature": None}, {"temperature": 1}, {"temperature": 1, "max_tokens": 100}),
    ],
)
def test_what_a_judge_is_asked_with(of_model, own, sent):
    """Null in a model's parameters removes one for good; its name of the limit is used."""
    asked = merged(of_model, own_params(of_model, own, temperature=0, tokens=100))
    assert asked == ({"max_completion_tokens": 100} if sent == "longer" else sent)
