"""A raw prompt is sent as it is to the text-completion endpoint, and nowhere else."""

from decimal import Decimal

import pytest

from evalhub.llm import gateway
from evalhub.llm.errors import CallError, CallErrorKind
from tests import provider as scripted
from tests.evalhub.llm.endpoints import make_endpoint
from tests.provider import Reply

pytestmark = pytest.mark.usefixtures("allowed")

PROMPT = "<|start_of_role|>user<|end_of_role|>Two and two?<|end_of_text|>\n<|assistant|> "
RAW = [{"role": "raw_prompt", "content": PROMPT}]


@pytest.fixture
def complete(provider, run):
    """Sends the raw prompt to a provider that replies as told; gives the completion."""

    def ask(reply=" Four.", params=None, **fields):
        provider.script = lambda request: reply
        endpoint = make_endpoint(provider, **fields)
        return run(gateway.complete(endpoint, RAW, params or {}))

    return ask


def error_of(complete, *arguments, **fields):
    with pytest.raises(CallError) as caught:
        complete(*arguments, **fields)
    return caught.value


@pytest.mark.parametrize(
    "model",
    [
        "openai/granite",
        "text-completion-openai/granite",
        "hosted_vllm/granite",
        "together_ai/granite",
        "openai/gpt-4o",
    ],
)
def test_the_prompt_and_the_parameters_are_sent_as_they_are(complete, provider, model):
    params = {"temperature": 0, "min_p": 0.1, "max_tokens": 30, "extra_body": {"top_k": 3}}
    complete(params=params, litellm_model=model)
    assert provider.paths == ["/v1/completions"]
    assert provider.requests == [
        {
            "model": model.partition("/")[2],
            "prompt": PROMPT,
            "temperature": 0,
            "min_p": 0.1,
            "max_tokens": 30,
            "top_k": 3,
            **({} if model.startswith("together") else {"stream": False}),
        }
    ]


def test_reply_is_read_and_recorded(complete):
    prices = {"input_usd_per_mtok": Decimal(2), "output_usd_per_mtok": Decimal(10)}
    completion = complete("one two three", **prices)
    assert completion.text == "one two three"
    assert (completion.input_tokens, completion.output_tokens) == (4, 3)
    assert completion.cost_usd == Decimal("0.000038")
    assert completion.finish_reason == "stop"
    assert '"text": "one two three"' in completion.reply


def test_without_a_limit_the_reply_is_not_cut_after_16_tokens(complete, provider):
    complete()
    assert provider.requests[0]["max_tokens"] == 1000


def test_missing_endpoint_says_what_to_do_and_does_not_end_the_run(complete, provider):
    provider.completes = False
    error = error_of(complete)
    assert "text-completion endpoint (POST …/completions)" in error.message
    assert "status 404" in error.message
    assert error.kind is CallErrorKind.BAD_REQUEST
    assert not error.can_retry
    assert not error.is_of_account


@pytest.mark.parametrize("model", ["anthropic/claude-3-5-haiku-latest", "ollama_chat/granite"])
def test_a_provider_without_text_completions_is_not_asked(complete, provider, model):
    error = error_of(complete, litellm_model=model)
    assert "no text-completion endpoint" in error.message
    assert provider.total == 0


@pytest.mark.parametrize("params", [{"tools": []}, {"extra_body": {"prompt": "other"}}])
def test_what_does_not_go_with_a_raw_prompt_is_named(complete, provider, params):
    error = error_of(complete, params=params)
    assert "a raw prompt is sent without" in error.message
    assert provider.total == 0


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (scripted.RATE_LIMITED_WAIT, CallErrorKind.RATE_LIMITED),
        (scripted.SERVER_ERROR, CallErrorKind.SERVER_ERROR),
        (scripted.UNAUTHORIZED, CallErrorKind.REFUSED_KEY),
        (scripted.RESET, CallErrorKind.UNREACHABLE),
        (scripted.HTML_PAGE, CallErrorKind.UNREADABLE_REPLY),
        (Reply(text=""), CallErrorKind.EMPTY_ANSWER),
    ],
)
def test_errors_are_those_of_conversations_and_tried_once(complete, provider, reply, kind):
    assert error_of(complete, reply).kind is kind
    assert provider.total == 1


@pytest.mark.parametrize("model", ["openai/granite", "together_ai/granite"])
def test_a_custom_address_gets_no_key_but_the_named_one(complete, provider, monkeypatch, model):
    for name in ("OPENAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY", "LAB_KEY"):
        monkeypatch.setenv(name, f"sk-{name}")
    complete(litellm_model=model)
    assert provider.headers.get("Authorization", "Bearer none") == "Bearer none"
    complete(litellm_model=model, api_key_env="LAB_KEY")
    assert provider.headers["Authorization"] == "Bearer sk-LAB_KEY"


def test_a_provider_without_a_key_does_not_get_openais(complete, provider, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("FEATHERLESS_API_BASE", provider.base_url)
    complete(litellm_model="featherless_ai/granite", api_base="")
    assert provider.headers["Authorization"] == "Bearer none"


def test_forbidden_addresses_are_not_called(complete, settings):
    settings.EVALHUB_ALLOWED_ADDRESSES = []
    assert error_of(complete).kind is CallErrorKind.FORBIDDEN_ADDRESS


def test_digest_differs_from_that_of_a_conversation(provider):
    endpoint = make_endpoint(provider)
    chat = [{"role": "user", "content": PROMPT}]
    digests = {gateway.request_digest(endpoint, messages, {}) for messages in (RAW, chat)}
    assert len(digests) == 2
