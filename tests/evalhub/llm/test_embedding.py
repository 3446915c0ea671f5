"""The gateway's second door: texts to vectors."""

import json
from decimal import Decimal

import pytest

from evalhub.llm import gateway
from evalhub.llm.errors import CallError
from tests import provider as scripted
from tests.evalhub.llm.endpoints import make_endpoint
from tests.provider import Reply, vector

pytestmark = pytest.mark.usefixtures("allowed")

TEXTS = ["one two three", "four"]


@pytest.fixture
def embed(provider, run, way):
    """Asks a provider that makes vectors as told."""

    def ask(texts=TEXTS, made=vector, **fields):
        provider.embed = made if callable(made) else lambda text: made
        endpoint = make_endpoint(provider, **{"litellm_model": way} | fields)
        return run(gateway.embed(endpoint, texts))

    return ask


@pytest.fixture
def error_of(embed):
    def ask(made, **fields):
        with pytest.raises(CallError) as caught:
            embed(made=made, **fields)
        return caught.value

    return ask


def test_vectors_come_in_the_order_of_the_texts(embed):
    assert embed().vectors == tuple(tuple(vector(text)) for text in TEXTS)


def test_texts_are_sent_in_one_request(embed, provider):
    embed()
    assert [request["input"] for request in provider.requests] == [TEXTS]


def test_parameters_of_the_endpoint_are_sent(embed, provider):
    embed(params={"dimensions": 8})
    assert provider.requests[0]["dimensions"] == 8


def test_nothing_else_is_sent(embed, provider):
    embed()
    assert set(provider.requests[0]) == {"model", "input"}


def test_cost_needs_the_input_price_only(embed):
    # Four words at 2 USD per million.
    embedded = embed(input_usd_per_mtok=Decimal(2))
    assert (embedded.input_tokens, embedded.cost_usd) == (4, Decimal("0.000008"))


def test_without_prices_cost_is_not_measured(embed):
    assert embed().cost_usd is None


def test_record_keeps_the_reply_without_the_vectors(embed):
    reply = json.loads(embed().reply)
    assert reply["usage"] == {"prompt_tokens": 4, "total_tokens": 4}
    assert "data" not in reply


def test_uncounted_tokens_are_not_measured(embed):
    data = [{"object": "embedding", "index": 0, "embedding": [1.0]}]
    body = json.dumps({"object": "list", "data": data, "model": "m"})
    assert embed(["a"], Reply(body=body)).input_tokens is None


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (scripted.UNAUTHORIZED, "refused_key"),
        (scripted.NOT_FOUND, "not_found"),
        (scripted.RATE_LIMITED, "rate_limited"),
        (scripted.SERVER_ERROR, "server_error"),
        (scripted.CONTEXT_TOO_LONG, "context_too_long"),
        (scripted.HTML_PAGE, "unreadable_reply"),
        (scripted.RESET, "unreachable"),
    ],
)
def test_failure_is_told_as_for_any_call(error_of, reply, kind):
    assert error_of(reply).kind == kind


def test_failing_call_is_made_once(error_of, provider):
    error_of(scripted.SERVER_ERROR)
    assert provider.total == 1


@pytest.mark.parametrize("numbers", [[], [None, 1.0]])
def test_vector_that_is_none_is_refused(error_of, numbers):
    assert error_of(numbers).kind == "unreadable_reply"


def test_what_an_unreadable_reply_cost_is_known(error_of):
    assert error_of([], input_usd_per_mtok=Decimal(1)).completion.cost_usd == Decimal("0.000004")


def test_too_few_vectors_are_refused(error_of):
    data = [{"object": "embedding", "index": 0, "embedding": [1.0]}]
    error = error_of(Reply(body=json.dumps({"object": "list", "data": data, "model": "m"})))
    assert "1 vectors of [1] numbers for 2 texts" in error.message


def test_vectors_of_different_length_are_refused(embed):
    with pytest.raises(CallError, match=r"vectors of \[1, 2\] numbers"):
        embed(made=lambda text: [1.0] * (2 if text == "four" else 1))


def test_forbidden_address_is_not_called(embed, provider, settings):
    settings.EVALHUB_ALLOWED_ADDRESSES = []
    with pytest.raises(CallError) as caught:
        embed()
    assert caught.value.kind == "forbidden_address"
    assert provider.total == 0


def test_missing_key_is_told(embed, monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(CallError, match="SOME_KEY"):
        embed(api_key_env="SOME_KEY")


def test_key_is_sent(embed, provider, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "sk-secret-123")
    embed(api_key_env="SOME_KEY")
    assert provider.headers["Authorization"] == "Bearer sk-secret-123"


def test_digest_tells_requests_apart():
    endpoint = make_endpoint("http://host/v1")
    digests = {
        gateway.embedding_digest(endpoint, ["a", "b"]),
        gateway.embedding_digest(endpoint, ["b", "a"]),
        gateway.embedding_digest(make_endpoint("http://other/v1"), ["a", "b"]),
        gateway.request_digest(endpoint, [], {}),
    }
    assert len(digests) == 4
