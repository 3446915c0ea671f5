"""Calls in OpenAI's form, straight to servers that speak it: vLLM, llama.cpp, Ollama and others."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, Protocol

import httpx

from evalhub.llm.completion import Completion, Embedded
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.providers.exchanges import exchanged, transport
from evalhub.llm.providers.openai_replies import chat_of, piece_of, text_completion_of, vectors_of
from evalhub.llm.providers.responses import Pieces, streamed_of

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
    body = _body(endpoint, sent, messages=list(messages))
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

    async def send(body: Json) -> Pieces:
        response = await _post(endpoint, key, "chat/completions", body, is_streamed=True)
        pieces = Pieces()
        try:
            async for line in response.aiter_lines():
                if (piece := piece_of(line)) and (text := pieces.add(*piece)):
                    take(text)
        finally:
            await response.aclose()
        return pieces

    return await exchanged(endpoint, (key,), send, {"body": body}, streamed_of, is_streamed=True)


async def text_completion(endpoint: Endpoint, key: str, prompt: str, sent: Json) -> Completion:
    send = partial(_post, endpoint, key, "completions")
    request = {"body": _body(endpoint, sent, prompt=prompt)}
    return await exchanged(endpoint, (key,), send, request, text_completion_of)


async def embeddings(endpoint: Endpoint, key: str, texts: Sequence[str], sent: Json) -> Embedded:
    send = partial(_post, endpoint, key, "embeddings")
    request = {"body": _body(endpoint, sent, input=list(texts))}
    return await exchanged(endpoint, (key,), send, request, partial(vectors_of, n=len(texts)))


def _body(endpoint: Endpoint, sent: Json, **content: Any) -> Json:
    own = {name: value for name, value in sent.items() if name != "extra_body"}
    model = endpoint.litellm_model.partition("/")[2]
    return {"model": model, **content, **own, **sent.get("extra_body", {})}


async def _post(
    endpoint: Endpoint, key: str, path: str, body: Json, *, is_streamed: bool = False
) -> httpx.Response:
    """Send a request and follow redirects; the key stays with its origin."""
    request = httpx.Request(
        "POST",
        _address(endpoint.api_base, path),
        headers={"Authorization": f"Bearer {key}"} if key else {},
        json=body,
        extensions={"timeout": {"read": endpoint.timeout_s}},
    )
    response = await _client().send(request, stream=is_streamed)
    return response.raise_for_status()


@lru_cache(maxsize=1000)
def _address(api_base: str, path: str) -> httpx.URL:
    base = httpx.URL(api_base)
    return base.copy_with(path=f"{base.path.rstrip('/')}/{path}")


@cache
def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=transport(), follow_redirects=True, trust_env=False)
