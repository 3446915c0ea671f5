"""The only access to language models and applications.

Endpoints that speak OpenAI's form at a base URL are called straight; litellm translates for the
others, and is imported only then.
"""

import os
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from evalhub.limits import DEFAULT_ANSWER_TOKENS
from evalhub.llm import capabilities
from evalhub.llm.applications.application_call import ask_application, candidate_only
from evalhub.llm.applications.application_request import SESSION_ID
from evalhub.llm.completion import Completion, Embedded
from evalhub.llm.content.raw_prompt import COMPLETIONS_NEEDED, NOT_WITH_RAW_PROMPT, raw_prompt_of
from evalhub.llm.costs.token_estimates import prompt_cut, token_limit
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.parameters import merged, parameter_problems
from evalhub.llm.providers import openai_calls, translated_calls
from evalhub.llm.providers.error_mapping import place, provider_message
from evalhub.llm.providers.exchanges import transport
from evalhub.llm.providers.responses import parsed
from evalhub.llm.security.called_address import check_called
from evalhub.llm.security.key_policy import key_problem
from evalhub.values.digest import digest

Messages = Sequence[Mapping[str, Any]]
Json = Mapping[str, Any]
Params = dict[str, Any]
Take = Callable[[str], None]
Ask = Callable[[Messages, Params], Awaitable[Completion]]


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
        return await ask_application(endpoint, messages, merged(endpoint.params, params))
    if (prompt := raw_prompt_of(messages)) is not None:
        return _marked(await _continued(endpoint, prompt, params), messages, {})
    wanted = _checked(endpoint, params)
    has_schema = endpoint.structured_output and schema is not None
    if has_schema:
        form = {"name": "reply", "schema": schema, "strict": True}
        wanted["response_format"] = {"type": "json_schema", "json_schema": form}

    async def ask(shown: Messages, sent: Params) -> Completion:
        way, key = _way(endpoint), key_of(endpoint)
        if sent.get("stream"):
            return await way.stream(endpoint, key, shown, sent, lambda text: None)
        return await way.chat(endpoint, key, shown, sent)

    return await _asked(endpoint, messages, wanted, ask, has_schema=has_schema)


async def stream(endpoint: Endpoint, messages: Messages, params: Json, take: Take) -> Completion:
    """Make one request as `complete` does, and give `take` each piece of text as it arrives.

    No raw prompts: litellm would stream their replies past our transport.
    """
    if endpoint.application:
        completion = await complete(endpoint, messages, params)
        take(completion.text)
        return completion

    async def ask(shown: Messages, sent: Params) -> Completion:
        return await _way(endpoint).stream(endpoint, key_of(endpoint), shown, sent, take)

    return await _asked(endpoint, messages, _checked(endpoint, params), ask)


def _marked(made: Completion, messages: Messages, sent: Params) -> Completion:
    """Mark a cut prompt, and tool calls that reached the token limit, which vLLM does not say."""
    limit = token_limit(sent)
    if made.tool_calls and limit and not made.ending and (made.output_tokens or 0) >= limit:
        made = replace(made, finish_reason="length")
    return replace(made, prompt_cut=prompt_cut(messages, made.input_tokens, made.output_tokens))


async def _asked(
    endpoint: Endpoint, messages: Messages, wanted: Params, ask: Ask, *, has_schema: bool = False
) -> Completion:
    """Ask with what the endpoint takes, and again without each parameter that it refuses by name.

    The only place that decides which parameters are sent.
    """
    known = capabilities.refused_by(endpoint.language_model_id)
    learnt: dict[str, Json] = {}
    while True:
        refused = {**known, **learnt}
        sent, dropped = capabilities.without_refused(wanted, refused)
        if capabilities.WHOLE in refused:
            sent["stream"] = True
        shown: Messages = list(messages)
        if capabilities.SYSTEM in refused:
            shown = capabilities.without_system([dict(message) for message in messages])
            dropped |= {capabilities.SYSTEM: "user"} if shown != list(messages) else {}
        try:
            completion = await ask(shown, dict(sent))
        except CallError as error:
            found = _refused_in(error, endpoint, shown, sent, has_schema=has_schema)
            if found is None or found[0] in refused:
                raise
            learnt[found[0]] = found[1]
        else:
            model = endpoint.language_model_id
            capabilities.follow(model, {**capabilities.refused_by(model), **learnt})
            return replace(
                _marked(completion, shown, sent),
                sent_params=capabilities.recorded(sent),
                refused_params=capabilities.recorded(dropped),
                learnt=learnt,
            )


def _refused_in(
    error: CallError, endpoint: Endpoint, shown: Messages, sent: Params, *, has_schema: bool
) -> tuple[str, Json] | None:
    """Return the parameter that a refusal names, and what it says of it."""
    if error.kind is not CallErrorKind.BAD_REQUEST:
        return None
    reply = error.completion.reply if error.completion else ""
    unsent = re.sub(r"^.*?\(status \d+\): | To drop unsupported.*", "", error.message)
    return capabilities.refused_parameter(
        reply or unsent,
        provider_message(parsed(reply), reply) if reply else unsent,
        sent,
        has_system=any(message.get("role") == "system" for message in shown),
        has_schema=has_schema and "response_format" in sent,
        can_stream=openai_calls.speaks_openai(endpoint),
    )


async def _continued(endpoint: Endpoint, prompt: str, params: Json) -> Completion:
    """Send a raw prompt to the text-completion endpoint, with the parameters just as they are."""
    sent = _checked(endpoint, params)
    if unknown := sorted(NOT_WITH_RAW_PROMPT & {*sent, *sent.get("extra_body", ())}):
        raise CallError(
            CallErrorKind.BAD_REQUEST,
            f"{place(endpoint)}: a raw prompt is sent without {' and '.join(unknown)}. Leave that "
            "out, or make the test a single prompt.",
        )
    if token_limit(sent) is None:
        sent["max_tokens"] = DEFAULT_ANSWER_TOKENS
    try:
        ask = _way(endpoint).text_completion
        completion = await ask(endpoint, key_of(endpoint), prompt, dict(sent))
        return replace(completion, sent_params=capabilities.recorded(sent))
    except CallError as error:
        if error.kind is not CallErrorKind.NOT_FOUND:
            raise
        # Not the end of the run: its conversations may be answered.
        raise CallError(
            CallErrorKind.BAD_REQUEST,
            f"{error.message} {COMPLETIONS_NEEDED}",
            completion=error.completion,
        ) from None


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
    sent = _checked(endpoint, {})
    return await _way(endpoint).embeddings(endpoint, key_of(endpoint), texts, sent)


class Way(Protocol):
    """A module of calls by key and parameters; see `complete`, `stream` and `embed`."""

    async def chat(
        self, endpoint: Endpoint, key: str, messages: Messages, sent: Params, /
    ) -> Completion: ...

    async def stream(
        self, endpoint: Endpoint, key: str, messages: Messages, sent: Params, take: Take, /
    ) -> Completion: ...

    async def text_completion(
        self, endpoint: Endpoint, key: str, prompt: str, sent: Params, /
    ) -> Completion: ...

    async def embeddings(
        self, endpoint: Endpoint, key: str, texts: Sequence[str], sent: Params, /
    ) -> Embedded: ...


def _way(endpoint: Endpoint) -> Way:
    return openai_calls if openai_calls.speaks_openai(endpoint) else translated_calls


def load(models: Iterable[openai_calls.Named]) -> None:
    """Import what calls to some models need, so that the first of them need not wait."""
    if not all(openai_calls.speaks_openai(model) for model in models):
        translated_calls.load()


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
    sent = merged(endpoint.params, params)
    if endpoint.application:  # every conversation has a session of its own
        sent = {name: value for name, value in sent.items() if name != SESSION_ID}
        sent |= {"application": endpoint.application}
    return {"model": endpoint.litellm_model, "base": endpoint.api_base, "params": sent}


def key_of(endpoint: Endpoint) -> str:
    """Return the key from the environment; "": the endpoint names none.

    Raises:
        CallError: The named variable is not set, or not bound to the endpoint's host.
    """
    if not endpoint.api_key_env:
        return ""
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


def _checked(endpoint: Endpoint, params: Json) -> dict[str, Any]:
    """Return all parameters to send.

    Raises:
        CallError: One steers the client instead, or the base URL may not be called.
    """
    sent = merged(endpoint.params, params)
    if problems := parameter_problems(sent):
        raise CallError(CallErrorKind.BAD_REQUEST, f"{place(endpoint)}: {' '.join(problems)}")
    if endpoint.api_base:
        check_called(endpoint)
    return sent
