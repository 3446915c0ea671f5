import asyncio
import json
import subprocess
import sys
from decimal import Decimal

import pytest

from evalhub.llm import gateway
from evalhub.llm.errors import CallError
from tests import provider as scripted
from tests.evalhub.llm.endpoints import QUESTION, make_endpoint
from tests.provider import Reply

pytestmark = pytest.mark.usefixtures("allowed")

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}}
NO_BALANCE = (
    '{"choices": null, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}'
)


@pytest.fixture
def complete(provider, run, way):
    """Asks a provider that replies as told; gives the completion."""

    def ask(reply="Four.", params=None, schema=None, messages=QUESTION, **fields):
        provider.script = reply if callable(reply) else lambda request: reply
        endpoint = make_endpoint(provider, **{"litellm_model": way} | fields)
        return run(gateway.complete(endpoint, messages, params or {}, schema))

    return ask


@pytest.fixture
def error_of(complete):
    """Asks a provider whose reply is no answer; gives the error."""

    def ask(reply, **arguments):
        with pytest.raises(CallError) as caught:
            complete(reply, **arguments)
        return caught.value

    return ask


def test_the_whole_conversation_is_sent(complete, provider):
    messages = [{"role": "system", "content": "Be brief."}, *QUESTION]
    complete(messages=messages)
    assert provider.requests[0]["messages"] == messages


def test_tokens_and_cost_are_measured_where_the_provider_counts_and_prices_are_known(complete):
    # 5 tokens at 2 USD and 3 at 10 USD per million: 10 + 30 millionths.
    prices = {"input_usd_per_mtok": Decimal(2), "output_usd_per_mtok": Decimal(10)}
    counted, uncounted = complete("one two three", **prices), complete(Reply(usage=False))

    assert (counted.input_tokens, counted.output_tokens) == (5, 3)
    assert counted.cost_usd == Decimal("0.00004")
    assert (uncounted.input_tokens, uncounted.output_tokens) == (None, None)
    assert complete().cost_usd is None


@pytest.mark.parametrize(
    "reply",
    [
        Reply("Four.", reasoning="Two and two."),
        "<think>Two and two.</think>Four.",
        "Two and two.\n</think>\n\nFour.",
        Reply("<think>\n\n</think>\n\nFour.", reasoning="Two and two."),
        "[THINK]Two and two.[/THINK]Four.",
    ],
    ids=["apart", "in front", "closing tag alone", "apart and empty", "Magistral"],
)
def test_reasoning_is_kept_apart_from_the_text(complete, reply):
    completion = complete(reply)
    assert (completion.text, completion.reasoning) == ("Four.", "Two and two.")


def test_a_completion_is_what_the_provider_replied(complete):
    completion = complete(Reply("Four.", finish_reason="eos_token"))
    assert (completion.text, completion.finish_reason) == ("Four.", "eos_token")
    assert completion.request_id == "req-1"
    reply = scripted.completion({"model": "scripted", "messages": QUESTION}, Reply("Four."))
    assert complete("Four.").reply == reply


def test_reasoning_that_never_ends_is_no_answer(error_of):
    error = error_of(Reply("<think>\nTwo and two. Let me", finish_reason="length"))
    assert (error.kind, error.can_retry) == ("empty_answer", False)
    assert error.completion.reasoning == "Two and two. Let me"


CHUNKS = [
    {"choices": [{"index": 0, "delta": {"content": "Fo"}, "finish_reason": None}]},
    {"choices": [{"index": 0, "delta": {"content": "ur."}, "finish_reason": "length"}]},
    {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
]
STREAM = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in CHUNKS) + "data: [DONE]\n\n"
AS_STREAM = {"Content-Type": "text/event-stream"}


@pytest.mark.parametrize("way", ["openai/scripted"])
def test_servers_that_stream_by_default_are_told_not_to_and_read_if_they_do(complete, error_of):
    streamed = Reply(body=STREAM, headers=AS_STREAM)
    assert complete(lambda asked: "Four." if asked["stream"] is False else streamed).text == "Four."
    read = complete(streamed)
    assert (read.text, read.finish_reason, read.output_tokens) == ("Four.", "length", 2)
    cut = Reply(body=STREAM.partition('"ur."')[0], headers=AS_STREAM)
    assert error_of(cut).kind == "unreadable_reply"


@pytest.mark.parametrize("content_type", ["text/plain", "application/json;charset=latin-1", "?"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_json_is_read_whatever_its_content_type_says(complete, content_type, mark):
    body = scripted.completion({"messages": QUESTION}, Reply("Vierundfünfzig …"))
    reply = Reply(body=mark + body, headers={"Content-Type": content_type})
    assert complete(reply).text == "Vierundfünfzig …"


def test_tool_calls_without_text_are_an_answer(complete):
    function = {"name": "add", "arguments": '{"a": 2}'}
    call = {"id": "c1", "type": "function", "function": function}
    completion = complete(Reply(None, tool_calls=[call], finish_reason="tool_calls"))
    assert completion.tool_calls[0]["function"] == function


def test_what_a_database_refuses_is_replaced(complete):
    function = {"name": "add", "arguments": "\x00"}
    call = {"id": "c1", "type": "function", "function": function}
    completion = complete(Reply("a\x00b\ud800", tool_calls=[call]))
    assert completion.text == "a\ufffdb\ufffd"
    assert completion.tool_calls[0]["function"]["arguments"] == "\ufffd"


def test_latency_covers_the_wait(complete, provider):
    provider._latencies_ms = iter([50])
    assert complete().latency_ms >= 50


def test_parameters_of_a_call_override_those_of_the_endpoint(run, provider):
    endpoint = make_endpoint(provider, params={"temperature": 0, "seed": 7})
    run(gateway.complete(endpoint, QUESTION, {"temperature": 1}))
    run(gateway.complete(endpoint, QUESTION, {"temperature": None}))
    first, second = provider.requests
    assert (first["temperature"], first["seed"]) == (1, 7)
    assert "temperature" not in second


def test_parameters_that_litellm_does_not_know_are_sent(complete, provider):
    unknown = {"top_k": 5, "min_p": 0.1, "reasoning_effort": "low", "logit_bias": {"5": -1}}
    complete(params=unknown)
    assert unknown.items() <= provider.requests[0].items()


def test_translated_parameters_are_sent_in_their_translation_only(run, provider):
    """Litellm's names for Anthropic's: a request with both would be refused."""
    endpoint = make_endpoint(
        provider.base_url.removesuffix("/v1"), litellm_model="anthropic/claude-sonnet-4-5"
    )
    params = {"stop": ["x"], "max_completion_tokens": 5, "top_k": 3, "new_option": "on"}
    run(gateway.complete(endpoint, QUESTION, params))
    request = provider.requests[0]
    sent = {name for name in request if name not in ("model", "messages")}
    assert sent == {"stop_sequences", "max_tokens", "top_k", "new_option"}


@pytest.mark.parametrize(
    "params",
    [
        {"api_base": "http://elsewhere.example"},
        {"mock_response": "canned"},
        {"extra_headers": {"Authorization": "x"}},
        {"extra_body": {"model": "other"}},
        {"aws_secret_access_key": "x"},
        {"n": 3},
        {"fallbacks": ["openai/other"]},
        {"aws_bedrock_runtime_endpoint": "https://elsewhere.example"},
        {"watsonx_url": "https://elsewhere.example"},
        {"vertex_location": "elsewhere.example/#"},
        {"aws_web_identity_token": "oidc/file/somewhere"},
        {"oci_key_file": "/somewhere"},
        {"success_callback": ["elsewhere"]},
    ],
    ids=str,
)
def test_parameters_that_steer_the_client_are_refused(error_of, provider, params):
    error = error_of("Four.", params=params)
    assert (error.kind, provider.total) == ("bad_request", 0)


def test_parameters_that_litellm_would_keep_are_refused(error_of, provider):
    error = error_of("Four.", params={"prompt_id": "x"}, litellm_model="together_ai/scripted")
    assert (error.kind, provider.total) == ("bad_request", 0)


@pytest.mark.parametrize("structured", [True, False])
def test_a_schema_is_sent_to_endpoints_that_take_one(complete, provider, structured):
    complete('{"score": 1}', schema=SCHEMA, structured_output=structured)
    (request,) = provider.requests
    assert ("response_format" in request) == structured
    assert not structured or request["response_format"]["json_schema"]["schema"] == SCHEMA


def test_key_comes_from_the_named_variable_alone(complete, provider, monkeypatch):
    monkeypatch.setenv("SCRIPTED_API_KEY", "secret-value")
    monkeypatch.setenv("OPENAI_API_KEY", "other-value")
    complete(api_key_env="SCRIPTED_API_KEY")
    assert provider.headers["Authorization"] == "Bearer secret-value"
    complete()
    assert "-value" not in str(provider.headers)


def test_a_key_that_is_not_set_is_named_and_the_sites_own_secrets_are_not_sent(error_of, provider):
    error = error_of("Four.", api_key_env="SCRIPTED_API_KEY")
    assert error.kind == "missing_key"
    assert error.is_of_account
    assert "SCRIPTED_API_KEY" in error.message
    assert error_of("Four.", api_key_env="EVALHUB_SECRET_KEY").kind == "forbidden_address"
    assert provider.total == 0


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (scripted.UNAUTHORIZED, "refused_key"),
        (scripted.NOT_FOUND, "not_found"),
        (scripted.RATE_LIMITED, "rate_limited"),
        (scripted.NO_CREDIT, "refused_key"),
        (scripted.SERVER_ERROR, "server_error"),
        (scripted.OVERLOADED, "server_error"),
        (scripted.CONTEXT_TOO_LONG, "context_too_long"),
        (scripted.FILTERED_PROMPT, "content_filtered"),
        (scripted.NO_SCHEMA, "bad_request"),
        (scripted.RESET, "unreachable"),
        (scripted.CUT_SHORT, "unreachable"),
        (scripted.EMPTY, "empty_answer"),
        (scripted.EMPTY_LENGTH, "empty_answer"),
        (scripted.FILTERED, "content_filtered"),
        (scripted.TRUNCATED, "unreadable_reply"),
        (scripted.HTML_PAGE, "unreadable_reply"),
        (Reply(body=scripted.HTML), "unreadable_reply"),
        (Reply(body=""), "unreadable_reply"),
        (Reply(body="[]"), "unreadable_reply"),
        (Reply(body="{}"), "unreadable_reply"),
        (Reply(body='{"choices": []}'), "unreadable_reply"),
        (Reply(body='{"choices": null}'), "unreadable_reply"),
        (Reply(body='{"error": {"message": "No capacity", "code": 502}}'), "server_error"),
        (Reply(body='{"error": "Unexpected endpoint or method. (POST /m)"}'), "not_found"),
        (Reply(body=NO_BALANCE), "refused_key"),
        (Reply(body=scripted.HTML, status=502), "server_error"),
        (Reply(body="", status=301), "unreadable_reply"),
    ],
)
def test_each_failure_has_its_kind(error_of, reply, kind):
    assert error_of(reply).kind == kind


def test_the_words_of_the_upstream_provider_are_told(error_of):
    raw = json.dumps({"error": {"message": "At most 1 image per prompt."}})
    error = {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}
    told = error_of(Reply(status=400, body=json.dumps({"error": error}))).message
    assert "At most 1 image per prompt." in told


def test_a_model_of_the_responses_endpoint_says_how_to_name_it(error_of):
    only = scripted.failure(404, "This model is only supported in v1/responses and not in others.")
    assert "openai/responses/" in error_of(only).message


@pytest.mark.parametrize(
    "reply", [scripted.SERVER_ERROR, scripted.RATE_LIMITED, scripted.RESET, scripted.HTML_PAGE]
)
def test_a_failing_call_is_made_once(error_of, provider, reply):
    error_of(reply)
    assert provider.total == 1


def test_hanging_provider_times_out(error_of):
    error = error_of(scripted.HANG, timeout_s=0.3)
    assert error.kind == "timed_out"
    assert "0.3 s" in error.message


def test_trickling_provider_times_out(provider, run, settings):
    async def trickle(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            writer.write(b" ")
            await asyncio.sleep(0.05)

    async def ask():
        server = await asyncio.start_server(trickle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        settings.EVALHUB_ALLOWED_ADDRESSES = ["127.0.0.1"]
        endpoint = make_endpoint(f"http://127.0.0.1:{port}/v1", timeout_s=0.3)
        with pytest.raises(CallError) as caught:
            await gateway.complete(endpoint, QUESTION, {})
        server.close()
        return caught.value

    assert run(ask()).kind == "timed_out"


@pytest.mark.parametrize(
    ("base", "model", "kind", "named"),
    [
        ("http://127.0.0.1:9/v1", "openai/any", "unreachable", "127.0.0.1:9"),
        ("http://nowhere.example/v1", "openai/any", "unreachable", "nowhere.example"),
        ("", "nobody/model", "not_found", ""),
    ],
)
def test_what_cannot_be_reached_is_named(run, settings, base, model, kind, named):
    settings.EVALHUB_ALLOWED_ADDRESSES = ["127.0.0.1", *settings.EVALHUB_ALLOWED_ADDRESSES]
    with pytest.raises(CallError) as caught:
        run(gateway.complete(make_endpoint(base, litellm_model=model), QUESTION, {}))
    assert caught.value.kind == kind
    assert named in caught.value.message


def test_endless_reply_is_cut_off(error_of, monkeypatch):
    monkeypatch.setattr("evalhub.llm.providers.http_transport.MAX_REPLY_BYTES", 1000)
    assert error_of("x" * 2000).kind == "unreadable_reply"


@pytest.mark.parametrize(
    ("reply", "wait"), [(scripted.RATE_LIMITED_WAIT, 2), (scripted.RATE_LIMITED, None)]
)
def test_retry_after_is_read_and_never_made_up(error_of, reply, wait):
    assert error_of(reply).retry_after_s == wait


def test_wrong_key_is_fatal_for_the_run_and_a_failure_keeps_the_raw_reply(error_of):
    assert error_of(scripted.UNAUTHORIZED).is_of_account
    assert error_of(scripted.HTML_PAGE).completion.reply == scripted.HTML


def test_refused_schema_says_what_to_switch_off(error_of):
    message = error_of(scripted.NO_SCHEMA, schema=SCHEMA).message
    assert "switch off 'structured output'" in message


def test_empty_answer_at_the_token_limit_says_so(error_of):
    error = error_of(scripted.EMPTY_LENGTH)
    assert "token limit" in error.message
    assert not error.can_retry


def test_empty_answer_keeps_what_it_cost(error_of):
    prices = {"input_usd_per_mtok": Decimal(2), "output_usd_per_mtok": Decimal(10)}
    completion = error_of(scripted.EMPTY, **prices).completion
    assert (completion.input_tokens, completion.cost_usd) == (5, Decimal("0.00001"))


def test_provider_that_repeats_the_key_does_not_spread_it(error_of, monkeypatch):
    monkeypatch.setenv("SCRIPTED_API_KEY", "hush-hush-42")
    reply = scripted.failure(401, "Wrong key hush-hush-42 (Bearer hush-hush-42).")
    error = error_of(reply, api_key_env="SCRIPTED_API_KEY")
    everything = f"{error.message} {error.completion} {error!r} {error.__cause__}"
    assert "hush-hush-42" not in everything


def test_refusal_of_a_model_is_its_answer(complete):
    assert complete(scripted.REFUSED).text == scripted.REFUSAL
    message = {"role": "assistant", "content": None, "refusal": "I will not."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice]}
    found = complete(Reply(body=json.dumps(body)))
    assert (found.text, found.refusal, found.words) == ("", "I will not.", "I will not.")


def test_redirect_to_a_forbidden_host_fails(error_of):
    target = {"Location": "http://169.254.169.254/latest/meta-data"}
    error = error_of(Reply(body="", status=307, headers=target))
    assert error.kind == "forbidden_address"


def test_address_that_is_not_allowed_is_not_called(error_of, provider, settings):
    settings.EVALHUB_ALLOWED_ADDRESSES = []
    error = error_of("Four.")
    assert (error.kind, provider.total) == ("forbidden_address", 0)
    assert error.is_of_account


def test_default_address_of_a_provider_is_checked_when_connected_to(run, settings, monkeypatch):
    """Litellm's own default for this provider is on the local machine."""
    settings.EVALHUB_ALLOWED_ADDRESSES = []
    endpoint = make_endpoint("", litellm_model="ollama_chat/any")
    with pytest.raises(CallError) as caught:
        run(gateway.complete(endpoint, QUESTION, {}))
    assert caught.value.kind == "forbidden_address"


def test_calls_run_beside_each_other(provider, run):
    provider._latencies_ms = iter([100] * 20)

    async def ask():
        endpoint = make_endpoint(provider)
        await asyncio.gather(*[gateway.complete(endpoint, QUESTION, {}) for _ in range(20)])

    run(ask())
    assert provider.max_in_flight == 20


def test_one_loop_after_the_other_works(complete):
    assert [complete().text for _ in range(3)] == ["Four."] * 3


def test_cancelled_call_stays_cancelled(provider, run):
    provider.script = lambda request: scripted.HANG

    async def ask():
        task = asyncio.ensure_future(gateway.complete(make_endpoint(provider), QUESTION, {}))
        await asyncio.sleep(0.2)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        run(ask())


@pytest.mark.parametrize(
    ("module", "function"),
    [("cost_calculator", "cost_per_token"), ("utils", "_schedule_async_success_logging")],
)
def test_litellm_neither_prices_nor_logs_calls(complete, monkeypatch, module, function):
    """It takes a third of its time, and prices are the endpoint's."""
    complete()
    called = []
    module = sys.modules[f"litellm.{module}"]
    monkeypatch.setattr(module, function, lambda **call: called.append(call))
    complete()
    assert called == []


def test_equal_requests_have_equal_digests():
    first = make_endpoint("", params={"a": 1, "b": 2})
    second = make_endpoint("", params={"b": 2, "a": 1}, timeout_s=1, name="Other")
    assert digest(first) == digest(second)


@pytest.mark.parametrize(
    "change",
    [
        {"params": {"a": 1}},
        {"messages": [{"role": "user", "content": "Else?"}]},
        {"schema": SCHEMA},
        {"litellm_model": "openai/other"},
        {"api_base": "https://llm.example.org"},
    ],
    ids=str,
)
def test_different_requests_have_different_digests(change):
    assert digest(make_endpoint("")) != digest(make_endpoint(""), **change)


def digest(endpoint, messages=QUESTION, params=None, schema=None, **fields):
    return gateway.request_digest(
        make_endpoint(endpoint.api_base, **({"params": endpoint.params} | fields)),
        messages,
        params or {},
        schema,
    )


@pytest.mark.parametrize(
    ("model", "base", "is_imported"),
    [
        ("openai/any", "http://127.0.0.1:9/v1", False),
        ("hosted_vllm/o-any", "http://127.0.0.1:9/v1", False),
        ("openai/o3-mini", "http://127.0.0.1:9/v1", True),
        ("openai/any", "", True),
        ("together_ai/any", "http://127.0.0.1:9/v1", True),
    ],
)
def test_litellm_is_imported_where_it_translates(model, base, is_imported):
    code = (
        "import sys; from evalhub.llm import gateway; from types import SimpleNamespace as N; "
        f"gateway.load([N(litellm_model={model!r}, api_base={base!r})]); "
        "sys.exit('litellm' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == is_imported
