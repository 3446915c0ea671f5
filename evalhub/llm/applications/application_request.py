"""Requests to HTTP applications: the values of their placeholders, and their secrets."""

import json
import os
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import httpx

from evalhub.llm.applications.application import Application
from evalhub.llm.content.content_parts import content_text
from evalhub.llm.content.raw_prompt import raw_prompt_of
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.providers.error_mapping import place
from evalhub.llm.security.called_address import check_called
from evalhub.llm.security.key_policy import key_problem

SESSION_ID = "session_id"
"""Parameter of a later turn: the session that the first one began. Not part of what is asked."""
DOCUMENTS = "documents"
"""Parameter with the test's documents, where the body places them apart from the messages."""


class PreparedRequest(NamedTuple):
    """A request, the session that it belongs to, and the secrets that it carries."""

    request: httpx.Request
    session_id: str
    secrets: tuple[str, ...]


def prepare(
    endpoint: Endpoint, messages: Sequence[Mapping[str, Any]], params: Mapping[str, Any]
) -> PreparedRequest:
    """Return the request of one turn; without a session in `params` it begins one.

    Raises:
        CallError: It cannot be sent: a raw prompt, a variable that is missing or not bound to the
            host, or an address that may not be called.
    """
    application = endpoint.settings
    if raw_prompt_of(messages) is not None:
        raise _refused(endpoint, "a raw prompt goes to models only: choose conversations.")
    check_called(endpoint)
    secrets = {name: _secret(endpoint, name) for name in application.variables}
    session_id = str(params.get(SESSION_ID) or uuid.uuid4())
    values = _values(application, messages, params, session_id)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    given = application.filled_headers({SESSION_ID: session_id, **secrets})
    for name, text in given.items():  # the session may be what the application said
        if not (text.isascii() and text.isprintable()):
            raise _refused(endpoint, f"header {name} would not be one line of plain ASCII text.")
    own = {name.lower() for name in given}
    headers = {name: text for name, text in headers.items() if name.lower() not in own} | given
    try:
        body = json.dumps(application.filled_body(values), ensure_ascii=False, allow_nan=False)
        request = httpx.Request(
            application.method,
            endpoint.api_base,
            headers=headers,
            content=body.encode(),
            extensions={"timeout": {"read": endpoint.timeout_s}},
        )
    except (ValueError, TypeError) as error:  # such as a secret that no header can carry
        raise _refused(endpoint, f"its request cannot be built ({type(error).__name__}).") from None
    return PreparedRequest(request, session_id, tuple(secrets.values()))


def _values(
    application: Application,
    messages: Sequence[Mapping[str, Any]],
    params: Mapping[str, Any],
    session_id: str,
) -> dict[str, Any]:
    system_prompt, turns = "", list(messages)
    if "system_prompt" in application.placeholders and turns and turns[0]["role"] == "system":
        system_prompt, turns = content_text(turns[0]["content"]), turns[1:]
    asked = [turn for turn in turns if turn.get("role") == "user"]
    apart = {SESSION_ID, DOCUMENTS, "tools"}
    merged = {name: value for name, value in params.items() if name not in apart}
    return {
        "messages": [dict(turn) for turn in turns],
        "prompt": content_text(asked[-1].get("content")) if asked else "",
        "system_prompt": system_prompt,
        "documents": str(params.get(DOCUMENTS) or ""),
        "tools": list(params.get("tools") or ()),
        "params": merged,
        "session_id": session_id,
    }


def _secret(endpoint: Endpoint, variable: str) -> str:
    if problem := key_problem(variable, endpoint.api_base):
        message = f"{place(endpoint)}: {problem}"
        raise CallError(CallErrorKind.FORBIDDEN_ADDRESS, message)
    secret = os.environ.get(variable, "").strip()
    if not secret:
        raise CallError(
            CallErrorKind.MISSING_KEY,
            f"{place(endpoint)} needs a secret in the environment variable {variable}, which is "
            "not set where the worker runs. Set it and start the worker again.",
        )
    if not secret.isascii() or not secret.isprintable():
        raise CallError(
            CallErrorKind.MISSING_KEY,
            f"{place(endpoint)}: the value of {variable} is not one line of plain text.",
        )
    return secret


def _refused(endpoint: Endpoint, words: str) -> CallError:
    return CallError(CallErrorKind.BAD_REQUEST, f"{place(endpoint)}: {words}")
