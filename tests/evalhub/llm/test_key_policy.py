"""Keys leave only for the hosts that the operator lists."""

import asyncio

import httpx
import pytest

from evalhub.llm import gateway
from evalhub.llm.errors import CallError
from evalhub.llm.providers.http_transport import recorded, sync_transport
from evalhub.llm.security.address_policy import ForbiddenAddress
from evalhub.llm.security.key_policy import bindings, check_key, key_problem
from tests.evalhub.llm.endpoints import QUESTION, make_endpoint

CANARY = "canary-0123456789"


@pytest.fixture(autouse=True)
def _keys(settings):
    settings.EVALHUB_KEYS = [
        "LLM_KEY@llm.internal:8000",
        "OPEN_KEY@api.example.org",
        "A@10.0.0.0/8",
    ]


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        ("LLM_KEY", "http://llm.internal:8000/v1"),
        ("OPEN_KEY", "https://api.example.org/v1"),
        ("OPEN_KEY", "https://API.Example.org.:8443/v1"),
        ("A", "http://10.1.2.3/v1"),
        ("OPEN_KEY", ""),
        ("", "https://anywhere.example.org"),
    ],
)
def test_a_listed_key_goes_to_its_hosts(variable, url):
    assert key_problem(variable, url) == ""


@pytest.mark.parametrize(
    ("variable", "url", "advice"),
    [
        ("LLM_KEY", "http://llm.internal:9000/v1", "LLM_KEY@llm.internal:9000"),
        ("LLM_KEY", "https://evil.example.org/v1", "LLM_KEY@evil.example.org:443"),
        ("OPEN_KEY", "https://api.example.org.evil.org/", "OPEN_KEY@api.example.org.evil.org:443"),
        ("A", "http://ten.example.org/", "A@ten.example.org:80"),
        ("POSTGRES_PASSWORD", "https://api.example.org/", "POSTGRES_PASSWORD@api.example.org:443"),
        ("EVALHUB_SECRET_KEY", "", "EVALHUB_SECRET_KEY@"),
    ],
)
def test_any_other_variable_or_host_is_refused_with_what_to_add(variable, url, advice):
    with pytest.raises(ForbiddenAddress, match="EVALHUB_KEYS") as refusal:
        check_key(variable, url)
    assert advice in str(refusal.value)


@pytest.mark.parametrize("entry", ["OPENAI_API_KEY", "@host", "A B@host", "KEY@", "KEY@http://x/"])
def test_an_entry_without_variable_and_host_is_quoted(entry):
    with pytest.raises(ValueError, match="is not"):
        bindings([entry])


# Where requests leave ----------------------------------------------------------------------------


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize("names_key", [True, False])
def test_no_key_leaves_for_a_host_that_is_not_its_own(provider, run, monkeypatch, names_key):
    """Also where the form was passed by, and where LiteLLM finds key and address itself."""
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("OPENAI_BASE_URL", provider.base_url)
    monkeypatch.setenv("OPENAI_API_BASE", provider.base_url)
    named = {"api_key_env": "OPENAI_API_KEY"} if names_key else {"api_base": ""}
    endpoint = make_endpoint(provider, **named)

    with pytest.raises(CallError, match=r"OPENAI_API_KEY@127\.0\.0\.1") as refusal:
        run(gateway.complete(endpoint, QUESTION, {}))

    assert refusal.value.kind == "forbidden_address"
    assert provider.total == 0


@pytest.mark.usefixtures("allowed")
def test_a_listed_key_that_litellm_finds_is_sent_to_its_host(provider, run, monkeypatch, settings):
    settings.EVALHUB_KEYS = [f"OPENAI_API_KEY@127.0.0.1:{provider.port}"]
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("OPENAI_BASE_URL", provider.base_url)
    monkeypatch.setenv("OPENAI_API_BASE", provider.base_url)

    run(gateway.complete(make_endpoint(provider, api_base=""), QUESTION, {}))

    assert provider.headers["Authorization"] == f"Bearer {CANARY}"


@pytest.mark.parametrize(
    "request_parts",
    [
        {"headers": {"Authorization": f"Bearer {CANARY}"}},
        {"headers": {"x-goog-api-key": CANARY}},
        {"params": {"key": CANARY}},
    ],
)
@pytest.mark.parametrize("is_async", [True, False])
def test_both_transports_search_requests_for_secrets(
    provider, monkeypatch, settings, request_parts, is_async
):
    settings.EVALHUB_ALLOWED_ADDRESSES = ["127.0.0.1"]
    monkeypatch.setenv("POSTGRES_PASSWORD", CANARY)

    def send() -> None:
        with httpx.Client(transport=sync_transport()) as client:
            client.get(provider.base_url, **request_parts)

    async def send_async() -> None:
        try:
            async with httpx.AsyncClient(transport=gateway.transport()) as client:
                await client.get(provider.base_url, **request_parts)
        finally:
            await gateway.close()

    with pytest.raises((ForbiddenAddress, httpx.ReadError), match="POSTGRES_PASSWORD"):
        asyncio.run(send_async()) if is_async else send()


def test_a_call_with_a_key_reaches_no_other_host_even_without_it(provider, settings):
    """A key may be encoded or signed with: the host decides, not what is seen of the key."""
    settings.EVALHUB_ALLOWED_ADDRESSES = ["127.0.0.1"]
    with (
        recorded(key_variable="LLM_KEY") as exchange,
        httpx.Client(transport=sync_transport()) as client,
        pytest.raises(ForbiddenAddress, match="LLM_KEY"),
    ):
        client.get(provider.base_url)
    assert isinstance(exchange.failure, ForbiddenAddress)
