"""Calls in OpenAI's form, straight to servers that speak it: vLLM, llama.cpp, Ollama and others."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import httpx

from evalhub.llm.completion import Completion, Embedded
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.exchanges import exchanged, transport
from evalhub.llm.openai_replies import chat_of, piece_of, text_completion_of, vectors_of
from evalhub.llm.responses import Pieces, streamed_of

Json = Mapping[str, Any]

SPEAKERS = frozenset(
    (
        *("openai", "openai_like", "custom_openai", "text-completion-openai"),
        *("docker_model_runner", "hosted_vllm", "llamafile", "lm_studio", "xinference"),
    )
)
"""Prefixes of model names that mean OpenAI's form and nothing else."""

MOVED = (307, 308)
"""The redirects after which a request is made again as it was."""

MAX_REDIRECTS = 5

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
        response = await _post(endpoint, key, "chat/completions", body)
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


async def _post(endpoint: Endpoint, key: str, path: str, body: Json) -> httpx.Response:
    base = httpx.URL(endpoint.api_base)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    request = httpx.Request(
        "POST",
        base.copy_with(path=f"{base.path.rstrip('/')}/{path}"),
        headers=headers,
        content=json.dumps(body, ensure_ascii=False, allow_nan=False).encode(),
        extensions={"timeout": {"read": endpoint.timeout_s}},
    )
    response = await _sent(request)
    if not response.is_success:
        raise ValueError(f"status {response.status_code}")
    return response


async def _sent(request: httpx.Request) -> httpx.Response:
    """Send a request and follow its redirects; a key stays with its origin."""
    for _ in range(MAX_REDIRECTS):
        response = await transport().handle_async_request(request)
        location = response.headers.get("location")
        if response.status_code not in MOVED or not location:
            break
        url = request.url.join(location)
        headers = dict(request.headers)
        headers.pop("host", None)
        if (url.scheme, url.netloc) != (request.url.scheme, request.url.netloc):
            headers.pop("authorization", None)
        request = httpx.Request(
            "POST", url, headers=headers, content=request.content, extensions=request.extensions
        )
    return response
