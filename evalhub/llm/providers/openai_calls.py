"""Calls in OpenAI's form, straight to servers that speak it: vLLM, llama.cpp, Ollama and others."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

import httpx

from evalhub.llm.completion import Completion, Embedded
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.providers.exchanges import exchanged, transport
from evalhub.llm.providers.http_transport import Reply
from evalhub.llm.providers.openai_replies import (
    chat_of,
    text_of,
    vectors_of,
)
from evalhub.llm.providers.responses import first
from evalhub.values.storable import storable

Json = Mapping[str, Any]

SPEAKERS = frozenset(
    (
        *("openai", "openai_like", "custom_openai", "text-completion-openai"),
        *("docker_model_runner", "hosted_vllm", "llamafile", "lm_studio", "xinference"),
    )
)
"""Prefixes of model names that mean OpenAI's form and nothing else."""

REWRITTEN = re.compile(r"o\d|gpt-5|responses/")
"""Models whose parameters have other names or another address than OpenAI's chat models."""

MAX_REDIRECTS = 20
REDIRECTS, UNCHANGED = {301, 302, 303, 307, 308}, {307, 308}
"""Statuses of redirects, and of those that leave method and body as they are."""


class Named(Protocol):
    @property
    def litellm_model(self) -> str: ...

    @property
    def api_base(self) -> str: ...


def speaks_openai(model: Named) -> bool:
    """Return whether a model needs no translator: it has a base URL, and OpenAI's form there."""
    provider, _, name = model.litellm_model.partition("/")
    return bool(model.api_base) and provider in SPEAKERS and not REWRITTEN.match(name)


async def chat(endpoint: Endpoint, key: str, messages: Sequence[Json], sent: Json) -> Completion:
    # Some servers stream unless they are told not to.
    body = _body(endpoint, sent, messages=list(messages), stream=False)
    send = partial(_post, endpoint, key, "chat/completions")
    return await exchanged(endpoint, (key,), send, {"body": body}, chat_of)


async def stream(
    endpoint: Endpoint,
    key: str,
    messages: Sequence[Json],
    sent: Json,
    take: Callable[[str], None],
) -> Completion:
    counted = {"stream": True, "stream_options": {"include_usage": True}}
    body = _body(endpoint, sent, messages=list(messages), **counted)

    async def send(body: Json) -> None:
        response = await _stream(endpoint, key, "chat/completions", body)
        try:
            async for line in response.aiter_lines():
                if text := _text_in(line):
                    take(text)
        finally:
            await response.aclose()

    return await exchanged(endpoint, (key,), send, {"body": body}, chat_of, is_streamed=True)


def _text_in(line: str) -> str:
    """Return the text in a line of a stream; raise ValueError if it is no JSON or an error."""
    data = line.removeprefix("data:").strip()
    if not line.startswith("data:") or data in ("", "[DONE]"):
        return ""
    chunk = json.loads(data)
    if first(chunk, "error") is not None:
        raise ValueError("an error in the stream")
    return storable(text_of(first(chunk, "choices", 0, "delta", "content")))


async def text_completion(endpoint: Endpoint, key: str, prompt: str, sent: Json) -> Completion:
    send = partial(_post, endpoint, key, "completions")
    request = {"body": _body(endpoint, sent, prompt=prompt, stream=False)}
    return await exchanged(endpoint, (key,), send, request, chat_of)


async def embeddings(endpoint: Endpoint, key: str, texts: Sequence[str], sent: Json) -> Embedded:
    send = partial(_post, endpoint, key, "embeddings")
    request = {"body": _body(endpoint, sent, input=list(texts))}
    return await exchanged(endpoint, (key,), send, request, partial(vectors_of, n=len(texts)))


def _body(endpoint: Endpoint, sent: Json, **content: Any) -> Json:
    own = {name: value for name, value in sent.items() if name != "extra_body"}
    model = endpoint.litellm_model.partition("/")[2]
    return {"model": model, **content, **own, **sent.get("extra_body", {})}


async def _post(endpoint: Endpoint, key: str, path: str, body: Json) -> Reply:
    """Send a request and follow redirects; the key stays with its origin."""
    method, url, headers = "POST", _address(endpoint.api_base, path), _headers(key)
    content: bytes | None = _encoded(body)
    for _ in range(1 + MAX_REDIRECTS):
        reply = await transport().send(method, url, headers, content, endpoint.timeout_s)
        target = urljoin(url, reply.headers.get("Location", ""))
        if reply.status_code not in REDIRECTS or target == url:
            break
        if reply.status_code not in UNCHANGED:
            method, content = "GET", None
        if urlsplit(target)[:2] != urlsplit(url)[:2]:
            headers = _headers("")
        url = target
    if not 200 <= reply.status_code < 300:
        raise ValueError(f"status {reply.status_code}")
    return reply


async def _stream(endpoint: Endpoint, key: str, path: str, body: Json) -> httpx.Response:
    request = httpx.Request(
        "POST",
        _address(endpoint.api_base, path),
        headers=_headers(key),
        content=_encoded(body),
        extensions={"timeout": {"read": endpoint.timeout_s}},
    )
    response = await _client().send(request, stream=True)
    return response.raise_for_status()


def _encoded(body: Json) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _headers(key: str) -> dict[str, str]:
    own = {"Authorization": f"Bearer {key}"} if key else {}
    return {"Content-Type": "application/json", **own}


@lru_cache(maxsize=1000)
def _address(api_base: str, path: str) -> str:
    return f"{api_base.rstrip('/')}/{path}"


@cache
def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=transport(), follow_redirects=True, trust_env=False)
