import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from evalhub.llm import gateway
from evalhub.llm.errors import CallError
from evalhub.llm.providers import translated_calls
from evalhub.llm.providers.http_transport import PermittedConnector, Transport, proxy_for
from evalhub.llm.security.address_policy import (
    ForbiddenAddress,
    allowances,
    check_address,
    check_base_url,
)
from tests.evalhub.llm.endpoints import QUESTION, make_endpoint
from tests.provider import Reply

FORBIDDEN = [
    *("10.0.0.1", "172.16.0.1", "192.168.1.1", "127.0.0.1", "127.8.8.8", "0.0.0.0"),
    *("169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "198.18.0.1"),
    *("224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1"),
    *("::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b:1::1"),
    *("2002:7f00:1::", "2001:0:1::1", "2001:db8::1", "fc00::1", "fd00:ec2::254", "fe80::1"),
    *("ff02::1", "ff0e::1"),
]
PUBLIC = ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001:830::200e"]


def refusal(check: Callable[..., None], *args: Any, **more: Any) -> str:
    """Why an address is refused; "" where it is permitted."""
    try:
        check(*args, **more)
    except ForbiddenAddress as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("address", FORBIDDEN)
def test_addresses_outside_the_public_internet_are_forbidden_by_themselves_and_in_urls(address):
    with pytest.raises(ForbiddenAddress, match="EVALHUB_ALLOWED_ADDRESSES"):
        check_address("host.example", 443, address, [])
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(ForbiddenAddress):
        check_base_url(f"http://{host}/v1", [])


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_permitted(address):
    assert refusal(check_address, "host.example", 443, address, []) == ""


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://llm.example.org", "file:///etc/passwd", "llm.example.org/v1"),
        *("//llm.example.org/v1", "http://", "http:///v1", "http://user:secret@llm.example.org"),
        *("http://llm.example.org@127.0.0.1", "http://2130706433/", "http://0x7f000001/"),
        *("http://0177.0.0.1/", "http://127.1/", "http://127.0.0.0x1/", "http://127.0.0.1./"),
        *("http://localhost/", "http://api.localhost/", "http://LOCALHOST:8000/"),
        *("http://127.0.0.1%2f@llm.example.org/", "http://127%2e0.0.1/"),
        *("http://llm.example.org\\@127.0.0.1/", "http://llm .example.org/"),
        *("http://llm.example.org\r\nHost: x/", "http://１２７.0.0.1/", "http://ⓛocalhost/"),
        *("http://llm.example.org:0/", "http://llm.example.org:99999/"),
        *("http://llm.example.org:port/", "http://llm.example.org/v1?key=secret"),
        *("http://llm.example.org/v1#x", "http://[::1/", "http://[::1%25eth0]/"),
        *("http://llm..example.org/", "http://-/"),
    ],
)
def test_urls_that_are_refused(url):
    with pytest.raises(ForbiddenAddress):
        check_base_url(url, [], resolve=lambda host: ["8.8.8.8"])


@pytest.mark.parametrize(
    "url",
    ["https://llm.example.org/v1", "http://8.8.8.8:8000", "https://[2606:4700:4700::1111]/v1"],
)
def test_urls_of_public_hosts_are_accepted(url):
    assert refusal(check_base_url, url, [], resolve=lambda host: ["8.8.8.8"]) == ""


def test_a_name_that_resolves_to_a_private_address_is_refused_when_saved(settings):
    with pytest.raises(ForbiddenAddress, match=r"10\.0\.0\.5 \(resolved from llm\.example\.org\)"):
        check_base_url("http://llm.example.org", [], resolve=lambda host: ["10.0.0.5"])
    # One that does not resolve now is accepted, by the name service as well.
    assert refusal(check_base_url, "http://llm.example.org", [], resolve=lambda host: []) == ""
    settings.EVALHUB_ALLOWED_ADDRESSES = []
    assert refusal(check_base_url, "https://llm.example.org/v1") == ""


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:9000"),
        ("127.0.0.1:9000", "http://127.0.0.1:9000"),
        ("127.0.0.0/8", "http://127.0.0.1:9000"),
        ("127.0.0.1", "http://localhost:9000"),
        ("localhost:9000", "http://localhost:9000/v1"),
        ("[::1]:9000", "http://[::1]:9000"),
        ("::1", "http://[::1]:9000"),
        ("fd00::/8", "http://[fd00::5]"),
        ("ollama", "http://ollama:11434"),
        ("Ollama.Internal", "http://ollama.internal."),
    ],
)
def test_allowed_addresses_are_accepted(entry, url):
    said = refusal(check_base_url, url, allowances([entry]), resolve=lambda host: ["10.0.0.5"])

    assert said == ""


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("127.0.0.1:9000", "http://127.0.0.1:9001"),
        ("127.0.0.1", "http://127.0.0.2"),
        ("10.0.0.0/8", "http://192.168.0.1"),
        ("localhost:9000", "http://localhost:9001"),
        ("llm", "http://llm.example.org"),
        ("example.org", "http://llm.example.org"),
    ],
)
def test_an_allowance_covers_no_more_than_it_says(entry, url):
    with pytest.raises(ForbiddenAddress):
        check_base_url(url, allowances([entry]), resolve=lambda host: ["10.0.0.5"])


@pytest.mark.parametrize("entry", ["", "http://llm.example.org", "a b", "llm:port", "user@llm"])
def test_an_allowance_that_cannot_be_read_is_named(entry):
    with pytest.raises(ValueError, match="is not a host, host:port or CIDR range"):
        allowances([entry])


class Names:
    """A name service that gives another address each time it is asked."""

    def __init__(self, *addresses):
        self.addresses = list(addresses)

    async def resolve(self, host, port=0, family=0):
        address = self.addresses.pop(0) if len(self.addresses) > 1 else self.addresses[0]
        result = {"hostname": host, "host": address, "port": port, "family": 2, "proto": 0}
        return [result | {"flags": 0}]

    async def close(self):
        pass


async def resolved(host, names):
    connector = PermittedConnector(resolver=names)
    try:
        return [result["host"] for result in await connector._resolve_host(host, 80)]
    finally:
        await connector.close()


def test_a_name_that_turns_to_a_forbidden_address_is_not_connected_to(settings):
    settings.EVALHUB_ALLOWED_ADDRESSES = []
    with pytest.raises(ForbiddenAddress, match="resolved from rebind"):
        asyncio.run(resolved("rebind.example", Names("127.0.0.1")))


def test_forbidden_addresses_among_a_names_addresses_are_left_out(settings):
    settings.EVALHUB_ALLOWED_ADDRESSES = []

    class Both(Names):
        async def resolve(self, host, port=0, family=0):
            return [*await super().resolve(host, port), *await super().resolve(host, port)]

    assert asyncio.run(resolved("llm.example", Both("10.0.0.1", "8.8.8.8"))) == ["8.8.8.8"]


def test_rebinding_between_check_and_connection_gains_nothing(provider, run, settings, monkeypatch):
    """Public when the base URL is checked, this machine when it is connected to."""
    settings.EVALHUB_ALLOWED_ADDRESSES = []
    names = Names("8.8.8.8", "127.0.0.1")
    url = f"http://rebind.example:{provider.port}/v1"
    check_base_url(url, resolve=lambda host: [asyncio.run(names.resolve(host))[0]["host"]])
    monkeypatch.setattr("aiohttp.connector.DefaultResolver", lambda *arguments, **options: names)
    with pytest.raises(CallError) as caught:
        run(gateway.complete(make_endpoint(url), QUESTION, {}))
    assert (caught.value.kind, provider.total) == ("forbidden_address", 0)


def test_the_rebinding_test_would_reach_the_provider_were_it_allowed(
    provider, run, settings, monkeypatch
):
    settings.EVALHUB_ALLOWED_ADDRESSES = ["127.0.0.1"]
    monkeypatch.setattr(
        "aiohttp.connector.DefaultResolver", lambda *arguments, **options: Names("127.0.0.1")
    )
    endpoint = make_endpoint(f"http://rebind.example:{provider.port}/v1")
    assert run(gateway.complete(endpoint, QUESTION, {})).text


def test_redirects_are_followed_only_to_permitted_addresses(provider, run, settings):
    settings.EVALHUB_ALLOWED_ADDRESSES = [f"localhost:{provider.port}"]
    target = f"http://127.0.0.1:{provider.port}/v1/chat/completions"
    provider.script = lambda request: Reply(body="", status=307, headers={"Location": target})
    endpoint = make_endpoint(f"http://localhost:{provider.port}/v1")
    with pytest.raises(CallError) as caught:
        run(gateway.complete(endpoint, QUESTION, {}))
    assert (caught.value.kind, provider.total) == ("forbidden_address", 1)


@pytest.mark.parametrize(("host", "is_sent"), [("127.0.0.1", True), ("localhost", False)])
def test_a_redirected_call_takes_its_key_along_only_within_its_origin(
    provider, run, settings, monkeypatch, host, is_sent
):
    settings.EVALHUB_ALLOWED_ADDRESSES = ["127.0.0.1"]
    settings.EVALHUB_KEYS = [f"LLM_KEY@{name}" for name in ("127.0.0.1", "localhost")]
    monkeypatch.setenv("LLM_KEY", "canary-0123456789")
    target = f"http://{host}:{provider.port}/v1/chat/completions?region=eu"
    replies = iter([Reply(body="", status=307, headers={"Location": target}), "Four."])
    provider.script = lambda request: next(replies)
    endpoint = make_endpoint(provider, api_key_env="LLM_KEY")
    assert run(gateway.complete(endpoint, QUESTION, {})).text == "Four."
    assert ("Authorization" in provider.headers) is is_sent


def test_every_transport_that_litellm_makes_is_ours():
    translated_calls.load()
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler, get_async_httpx_client

    assert isinstance(AsyncHTTPHandler.create_async_transport(), Transport)
    assert isinstance(get_async_httpx_client("anthropic").client._transport, Transport)


@pytest.mark.parametrize("allowed", [[], ["127.0.0.1"]])
def test_what_litellm_sends_without_asyncio_is_checked_too(provider, settings, allowed):
    translated_calls.load()
    from litellm.llms.custom_httpx.http_handler import HTTPHandler

    settings.EVALHUB_ALLOWED_ADDRESSES = allowed
    url = f"http://localhost:{provider.port}/v1/chat/completions"
    try:
        HTTPHandler().post(url, json={"messages": []})
    except ForbiddenAddress:
        assert not allowed
    assert provider.total == len(allowed)


@pytest.mark.parametrize(
    ("host", "proxy"), [("llm.example.org", "http://proxy.example:3128"), ("inside.example", None)]
)
def test_the_environments_proxy_is_used(monkeypatch, host, proxy):
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    proxy_for.cache_clear()
    assert proxy_for("https", host) == proxy
    proxy_for.cache_clear()
