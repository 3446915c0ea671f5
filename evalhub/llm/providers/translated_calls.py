"""Calls that litellm translates: for providers that do not speak OpenAI's form at their base URL.

The only module that imports litellm, and at the first such call: it takes seconds and 160 MB.
"""

import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any, NamedTuple

from evalhub.llm.completion import Completion, Embedded
from evalhub.llm.content.raw_prompt import COMPLETIONS_NEEDED
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.providers.error_mapping import place
from evalhub.llm.providers.exchanges import exchanged, transport
from evalhub.llm.providers.http_transport import sync_transport
from evalhub.llm.providers.responses import Pieces, completion_of, embedded_of, streamed_of

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
        "_skip_mcp_handler": True,  # else tools need a package that litellm does not bring along
    }
    send = _with_key(load().acompletion, endpoint, key)
    return await exchanged(endpoint, (key,), send, request, completion_of)


async def stream(
    endpoint: Endpoint,
    key: str,
    messages: Sequence[Json],
    sent: dict[str, Any],
    take: Callable[[str], None],
) -> Completion:
    request = _request(endpoint, sent, "chat_completion") | {
        "messages": list(messages),
        "_skip_mcp_handler": True,
        "stream": True,
        "stream_options": {"include_usage": True},
    }

    async def send(**arguments: Any) -> Pieces:
        pieces = Pieces()
        async for chunk in await load().acompletion(**arguments):
            choice = chunk.choices[0] if chunk.choices else None
            usage = getattr(chunk, "usage", None)
            text = pieces.add(
                choice and choice.delta.content,
                choice and choice.finish_reason,
                usage and (usage.prompt_tokens, usage.completion_tokens),
            )
            if text:
                take(text)
        return pieces

    send_with_key = _with_key(send, endpoint, key)
    return await exchanged(endpoint, (key,), send_with_key, request, streamed_of, is_streamed=True)


async def text_completion(
    endpoint: Endpoint, key: str, prompt: str, sent: dict[str, Any]
) -> Completion:
    request = _request(endpoint, sent, "chat_completion")
    body = {name: request.pop(name) for name in sent.keys() - NOT_PARAMETERS}
    request |= {
        "messages": [{"role": "user", "content": prompt}],  # litellm sends its text alone
        "extra_body": body | sent.get("extra_body", {}),
        "allowed_openai_params": [],
        "_skip_mcp_handler": True,
    }
    send = _with_key(partial(_continue, endpoint), endpoint, key)
    return await exchanged(endpoint, (key,), send, request, completion_of)


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
    return await exchanged(endpoint, (key,), send, request, partial(embedded_of, n=len(texts)))


def _with_key(
    send: Callable[..., Awaitable[Any]], endpoint: Endpoint, key: str
) -> Callable[..., Awaitable[Any]]:
    """Return `send` with the key; without a key or a base URL, litellm may look for one."""
    load().is_internal.set(True)
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
    )
