"""The only access to language models, and the only module that imports litellm.

litellm is imported at the first call, because it takes seconds and 160 MB.
"""

import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from django.conf import settings

from evalhub.digest import digest
from evalhub.llm.address_policy import ForbiddenAddress, allowances, check_base_url
from evalhub.llm.application_call import ask_application, candidate_only
from evalhub.llm.application_request import SESSION_ID
from evalhub.llm.completion import Completion, Embedded
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.error_mapping import place
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.exchanges import exchanged, transport
from evalhub.llm.http_transport import sync_transport
from evalhub.llm.key_policy import key_problem
from evalhub.llm.parameters import parameter_problems
from evalhub.llm.raw_prompt import COMPLETIONS_NEEDED, NOT_WITH_RAW_PROMPT, raw_prompt_of
from evalhub.llm.responses import Pieces, completion_of, embedded_of, streamed_of
from evalhub.llm.token_estimates import DEFAULT_ANSWER_TOKENS, token_limit

Messages = Sequence[Mapping[str, Any]]
Json = Mapping[str, Any]
T = TypeVar("T", bound=Completion)

NO_KEY = "none"
"""Sent to a custom address without a key, so that litellm sends no key that it finds itself."""

IMPORTED_BY_CALLS = ("openai.resources", "litellm.proxy._types")
"""What the first call would import, which takes more than a second."""


async def complete(
    endpoint: Endpoint, messages: Messages, params: Json, schema: Json | None = None
) -> Completion:
    """Make one request to a provider, without retries.

    Args:
        endpoint: The model; its own parameters are sent unless `params` overrides them.
        messages: In the form of chat models, or a raw prompt.
        params: Any that the provider takes, by name; one that is None is not sent.
        schema: JSON schema of the reply, sent when the endpoint takes one.

    Raises:
        CallError: With what happened, and whether another try can help.
    """
    if endpoint.application:
        if schema is not None:
            raise candidate_only(endpoint)
        return await ask_application(endpoint, messages, _merged(endpoint, params))
    if (prompt := raw_prompt_of(messages)) is not None:
        return await _continued(endpoint, prompt, params)
    key = key_of(endpoint)
    sent = _merged(endpoint, params)
    if endpoint.structured_output and schema is not None:
        form = {"name": "reply", "schema": schema, "strict": True}
        sent["response_format"] = {"type": "json_schema", "json_schema": form}
    request = _request(endpoint, sent, "chat_completion") | {
        "messages": list(messages),
        "_skip_mcp_handler": True,  # else tools need a package that litellm does not bring along
    }
    return await exchanged(
        endpoint, (key,), _litellm(load().acompletion, key), request, completion_of
    )


async def stream(
    endpoint: Endpoint, messages: Messages, params: Json, take: Callable[[str], None]
) -> Completion:
    """Make one request as `complete` does, and give `take` each piece of text as it arrives.

    No raw prompts: litellm would stream their replies past our transport.
    """
    if endpoint.application:
        completion = await complete(endpoint, messages, params)
        take(completion.text)
        return completion
    key = key_of(endpoint)
    request = _request(endpoint, _merged(endpoint, params), "chat_completion") | {
        "messages": list(messages),
        "_skip_mcp_handler": True,
        "stream": True,
        "stream_options": {"include_usage": True},
    }

    async def send(**arguments: Any) -> Pieces:
        pieces = Pieces()
        async for chunk in await load().acompletion(**arguments):
            if text := pieces.add(chunk):
                take(text)
        return pieces

    return await exchanged(
        endpoint, (key,), _litellm(send, key), request, streamed_of, is_streamed=True
    )


async def _continued(endpoint: Endpoint, prompt: str, params: Json) -> Completion:
    """Send a raw prompt to the text-completion endpoint, with the parameters just as they are."""
    key = key_of(endpoint)
    sent = _merged(endpoint, params)
    if unknown := sorted(NOT_WITH_RAW_PROMPT & {*sent, *sent.get("extra_body", ())}):
        raise CallError(
            CallErrorKind.BAD_REQUEST,
            f"{place(endpoint)}: a raw prompt is sent without {' and '.join(unknown)}. Leave that "
            "out, or make the test a single prompt.",
        )
    if token_limit(sent) is None:
        sent["max_tokens"] = DEFAULT_ANSWER_TOKENS
    request = _request(endpoint, sent, "chat_completion")
    body = {name: request.pop(name) for name in sent.keys() - NOT_PARAMETERS}
    request |= {
        "messages": [{"role": "user", "content": prompt}],  # litellm sends its text alone
        "extra_body": body | sent.get("extra_body", {}),
        "allowed_openai_params": [],
        "_skip_mcp_handler": True,
    }

    try:
        send = _litellm(partial(_continue, endpoint), key)
        return await exchanged(endpoint, (key,), send, request, completion_of)
    except CallError as error:
        if error.kind is not CallErrorKind.NOT_FOUND:
            raise
        # Not the end of the run: its conversations may be answered.
        raise CallError(
            CallErrorKind.BAD_REQUEST,
            f"{error.message} {COMPLETIONS_NEEDED}",
            completion=error.completion,
        ) from None


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


async def embed(endpoint: Endpoint, texts: Sequence[str]) -> Embedded:
    """Return the vectors of texts from one request, without retries.

    Args:
        endpoint: An embedding model; its own parameters are sent.
        texts: At least one; none is empty.

    Raises:
        CallError: As for `complete`.
    """
    if endpoint.application:
        raise candidate_only(endpoint)
    key = key_of(endpoint)
    request = _request(endpoint, _merged(endpoint, {}), "embeddings") | {"input": list(texts)}
    read = partial(embedded_of, n=len(texts))
    return await exchanged(endpoint, (key,), _litellm(load().aembedding, key), request, read)


def _litellm(send: Callable[..., Awaitable[Any]], key: str) -> Callable[..., Awaitable[Any]]:
    load().is_internal.set(True)
    return partial(send, api_key=key or None)


async def close() -> None:
    """Close the connections of the running event loop; calls after it open new ones."""
    await transport().close()


def request_digest(
    endpoint: Endpoint, messages: Messages, params: Json, schema: Json | None = None
) -> str:
    """Return the SHA-256 of a request and its endpoint, in hex."""
    sent_schema = schema if endpoint.structured_output else None
    return digest(_named(endpoint, params) | {"messages": messages, "schema": sent_schema})


def embedding_digest(endpoint: Endpoint, texts: Sequence[str]) -> str:
    return digest(_named(endpoint, {}) | {"input": list(texts)})


def _named(endpoint: Endpoint, params: Json) -> dict[str, Any]:
    sent = _merged(endpoint, params)
    if endpoint.application:  # every conversation has a session of its own
        sent = {name: value for name, value in sent.items() if name != SESSION_ID}
        sent |= {"application": endpoint.application}
    return {"model": endpoint.litellm_model, "base": endpoint.api_base, "params": sent}


def key_of(endpoint: Endpoint) -> str:
    """Return the key from the environment; "": the endpoint names none, and litellm may look.

    Raises:
        CallError: The named variable is not set, or not bound to the endpoint's host.
    """
    if not endpoint.api_key_env:
        return NO_KEY if endpoint.api_base else ""
    if problem := key_problem(endpoint.api_key_env, endpoint.api_base):
        raise CallError(CallErrorKind.FORBIDDEN_ADDRESS, f"{place(endpoint)}: {problem}")
    key = os.environ.get(endpoint.api_key_env, "").strip()
    if not key:
        raise CallError(
            CallErrorKind.MISSING_KEY,
            f"{place(endpoint)} needs a key in the environment variable {endpoint.api_key_env}, "
            "which is not set where the worker runs. Set it and start the worker again.",
        )
    return key


def _merged(endpoint: Endpoint, params: Json) -> dict[str, Any]:
    merged = {**endpoint.params, **params}
    return {name: value for name, value in merged.items() if value is not None}


def _request(endpoint: Endpoint, sent: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return litellm's arguments, without key and content; `kind` as litellm names it."""
    problems = parameter_problems(sent) + [
        f"{name!r} would be read by the client library and not sent: put it into 'extra_body'."
        for name in sent
        if name in load().own_names
    ]
    if problems:
        raise CallError(CallErrorKind.BAD_REQUEST, f"{place(endpoint)}: {' '.join(problems)}")
    if endpoint.api_base:
        try:
            _check_written(endpoint.api_base, tuple(settings.EVALHUB_ALLOWED_ADDRESSES))
        except ForbiddenAddress as error:
            message = f"{place(endpoint)}: {error}"
            raise CallError(CallErrorKind.FORBIDDEN_ADDRESS, message) from error
        sent["api_base"] = endpoint.api_base
    return sent | {
        "model": endpoint.litellm_model,
        "timeout": endpoint.timeout_s,
        "max_retries": 0,
        "allowed_openai_params": list(
            sent.keys() - NOT_PARAMETERS - _known(endpoint.litellm_model, kind)
        ),
    }


NOT_PARAMETERS = {"api_base", "extra_body"}


@lru_cache(maxsize=1000)
def _known(litellm_model: str, kind: str) -> frozenset[str]:
    """Return the parameters that litellm translates for a model; it passes the others on unchanged.

    A translated one is not passed on too: it would be sent twice, once in a refused form.
    """
    try:
        return frozenset(load().supported(model=litellm_model, request_type=kind) or ())
    except Exception:  # litellm says what is wrong with the model when it is called
        return frozenset()


@lru_cache(maxsize=1000)
def _check_written(url: str, allowed: tuple[str, ...]) -> None:
    """Check the URL as written; the addresses of its name are checked on connecting."""
    check_base_url(url, allowances(allowed), resolve=lambda host: [])


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
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx"):
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


PASSED_ON = {"api_version", "region_name"}
"""Arguments about the request, which litellm is right to read itself."""
