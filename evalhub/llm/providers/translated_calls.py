"""Calls that litellm translates: for providers that do not speak OpenAI's form at their base URL.

The only module that imports litellm, and at the first such call: it takes seconds and 160 MB.
"""

import logging
import os
import re
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from evalhub.llm.completion import Completion, Embedded
from evalhub.llm.content.raw_prompt import COMPLETIONS_NEEDED
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.providers.error_mapping import place
from evalhub.llm.providers.exchanges import exchanged, transport
from evalhub.llm.providers.http_transport import sync_transport
from evalhub.llm.providers.openai_replies import (
    chat_of,
    translated_of,
    translated_usage,
    vectors_of,
)
from evalhub.llm.providers.responses import whole
from evalhub.llm.verdicts.reasoning import split
from evalhub.values.storable import storable

Json = Mapping[str, Any]

NO_KEY = "none"
"""Sent to a custom address without a key, so that litellm sends no key that it finds itself."""

IMPORTED_BY_CALLS = ("openai.resources", "litellm.proxy._types")
"""What the first call would import, which takes more than a second."""

NOT_PARAMETERS = {"api_base", "extra_body"}

PASSED_ON = {"api_version", "region_name"}
"""Arguments about the request, which litellm is right to read itself."""


async def chat(
    endpoint: Endpoint, key: str, messages: Sequence[Json], sent: dict[str, Any]
) -> Completion:
    request = _request(endpoint, sent, "chat_completion") | {
        "messages": list(messages),
    }
    send = _with_key(load().acompletion, endpoint, key)
    return await exchanged(endpoint, (key,), send, request, translated_of, otherwise=chat_of)


async def stream(
    endpoint: Endpoint,
    key: str,
    messages: Sequence[Json],
    sent: dict[str, Any],
    take: Callable[[str], None],
) -> Completion:
    request = _request(endpoint, sent, "chat_completion") | {
        "messages": list(messages),
        "stream": True,
        "stream_options": {"include_usage": True},
    }

    async def send(**arguments: Any) -> Pieces:
        pieces = Pieces()
        async for chunk in await load().acompletion(**arguments):
            if text := pieces.add(chunk):
                take(text)
        return pieces

    send_with_key = _with_key(send, endpoint, key)
    return await exchanged(endpoint, (key,), send_with_key, request, streamed_of, is_streamed=True)


@dataclass
class Pieces:
    """A streamed reply as far as it has arrived."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    finish_reason: str = ""
    usage: Any = None

    def add(self, chunk: Any) -> str:
        """Take a chunk in litellm's form, and return its text."""
        self.usage = getattr(chunk, "usage", None) or self.usage
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self.finish_reason = choice.finish_reason or self.finish_reason
        self.thoughts.append(getattr(choice.delta, "reasoning_content", None) or "")
        self.texts.append(storable(choice.delta.content or ""))
        return self.texts[-1]


COUNTED = re.compile(r'"usage(Metadata)?": ?{')
"""Token counts in a stream; litellm estimates them if the provider did not count."""


def streamed_of(endpoint: Endpoint, pieces: Pieces, received: Completion) -> Completion:
    """Return the whole completion; raise CallError if it has no text."""
    text, reasoning, is_sure = split("".join(pieces.texts), "".join(pieces.thoughts))
    return whole(
        endpoint,
        received,
        None,
        text=text,
        reasoning=reasoning,
        may_hold_reasoning=not is_sure,
        usage=translated_usage(None, pieces.usage if COUNTED.search(received.reply) else None),
        finish_reason=pieces.finish_reason,
    )


async def text_completion(
    endpoint: Endpoint, key: str, prompt: str, sent: dict[str, Any]
) -> Completion:
    request = _request(endpoint, sent, "chat_completion")
    body = {name: request.pop(name) for name in sent.keys() - NOT_PARAMETERS}
    request |= {
        "messages": [{"role": "user", "content": prompt}],  # litellm sends its text alone
        "extra_body": body | sent.get("extra_body", {}),
        "allowed_openai_params": [],
    }
    send = _with_key(partial(_continue, endpoint), endpoint, key)
    return await exchanged(endpoint, (key,), send, request, translated_of)


async def _continue(endpoint: Endpoint, *, api_key: str | None, **arguments: Any) -> Any:
    """Ask a provider's text-completion endpoint through litellm."""
    name, provider, found_key, base = load().located(
        endpoint.litellm_model, api_base=endpoint.api_base or None, api_key=api_key
    )
    if provider not in load().completing:
        raise CallError(
            CallErrorKind.BAD_REQUEST,
            f"{place(endpoint)} is called as “{provider}”, which has no text-completion endpoint "
            f"here. {COMPLETIONS_NEEDED} A model of a server with such an endpoint is named "
            "openai/…, with the server's base URL.",
        )
    arguments["model"] = f"text-completion-openai/{name}"
    arguments.setdefault("api_base", base)
    # Without a key litellm would send OpenAI's, whichever provider it is.
    own_key = api_key or found_key or (None if "openai" in provider else NO_KEY)
    return await load().acompletion(api_key=own_key, **arguments)


async def embeddings(
    endpoint: Endpoint, key: str, texts: Sequence[str], sent: dict[str, Any]
) -> Embedded:
    request = _request(endpoint, sent, "embeddings") | {"input": list(texts)}
    send = _with_key(load().aembedding, endpoint, key)
    return await exchanged(endpoint, (key,), send, request, partial(vectors_of, n=len(texts)))


def _with_key(
    send: Callable[..., Awaitable[Any]], endpoint: Endpoint, key: str
) -> Callable[..., Awaitable[Any]]:
    """Return `send` with the key; without a key or a base URL, litellm may look for one."""
    load().is_internal.set(True)
    for callbacks in load().callbacks:  # Gemini's part of litellm adds its cache to them
        callbacks.clear()
    return partial(send, api_key=key or (NO_KEY if endpoint.api_base else None))


def _request(endpoint: Endpoint, sent: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return litellm's arguments, without key and content; `kind` as litellm names it."""
    problems = [
        f"{name!r} would be read by the client library and not sent: put it into 'extra_body'."
        for name in sent
        if name in load().own_names
    ]
    if problems:
        raise CallError(CallErrorKind.BAD_REQUEST, f"{place(endpoint)}: {' '.join(problems)}")
    if endpoint.api_base:
        sent["api_base"] = endpoint.api_base
    return sent | {
        "model": endpoint.litellm_model,
        "timeout": endpoint.timeout_s,
        "max_retries": 0,
        "allowed_openai_params": list(
            sent.keys() - NOT_PARAMETERS - _known(endpoint.litellm_model, kind)
        ),
    }


@lru_cache(maxsize=1000)
def _known(litellm_model: str, kind: str) -> frozenset[str]:
    """Return the parameters that litellm translates for a model; it passes the others on unchanged.

    A translated one is not passed on too: it would be sent twice, once in a refused form.
    """
    try:
        return frozenset(load().supported(model=litellm_model, request_type=kind) or ())
    except Exception:  # litellm says what is wrong with the model when it is called
        return frozenset()


class Client(NamedTuple):
    acompletion: Callable[..., Awaitable[Any]]
    aembedding: Callable[..., Awaitable[Any]]
    located: Callable[..., tuple[str, str, str | None, str | None]]
    """Model name, provider, key and base URL of a model."""
    completing: frozenset[str]
    """Providers with a text-completion endpoint in OpenAI's form."""
    supported: Callable[..., list[str] | None]
    own_names: frozenset[str]
    is_internal: ContextVar[bool]
    callbacks: tuple[list[Any], ...]


GATEWAY = "litellm.responses.mcp.litellm_proxy_mcp_handler"


def _no_gateway() -> ModuleType:
    """Return a module in the place of litellm's gateway for MCP.

    litellm imports it for tools, and for models that it asks at /responses; it needs packages that
    litellm does not bring along.
    """
    module = ModuleType(GATEWAY)
    nothing = {"should_use_litellm_mcp_gateway": staticmethod(lambda tools: False)}
    module.__dict__["LiteLLM_Proxy_MCP_Handler"] = type("NoGateway", (), nothing)
    return module


@cache
def load() -> Client:
    """Import litellm without telemetry, logged prompts, retries and prices.

    EvalHub has its own prices and records of calls (`Endpoint`, `Call`), and litellm's take a third
    of its time. So its price look-up is replaced here, and `complete` marks each call as internal,
    which skips litellm's logging.
    """
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm
    from litellm._internal_context import is_internal_call
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
    from litellm.types.utils import all_litellm_params

    sys.modules.setdefault(GATEWAY, _no_gateway())
    for name in IMPORTED_BY_CALLS:
        import_module(name)
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.num_retries = litellm.DEFAULT_MAX_RETRIES = 0
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    litellm.utils.update_response_metadata = lambda **call: None
    litellm.sync_transport = sync_transport()
    AsyncHTTPHandler.create_aiohttp_transport = staticmethod(lambda **tls: transport())
    own_names = frozenset(all_litellm_params) - PASSED_ON
    return Client(
        acompletion=litellm.acompletion,
        aembedding=litellm.aembedding,
        located=litellm.get_llm_provider,
        completing=frozenset(
            (
                "openai",
                "text-completion-openai",
                *litellm.openai_text_completion_compatible_providers,
            )
        ),
        supported=litellm.get_supported_openai_params,
        own_names=own_names,
        is_internal=is_internal_call,
        callbacks=(litellm.success_callback, litellm._async_success_callback),
    )
