"""Calling HTTP applications."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import httpx

from evalhub.llm.applications.application_reply import application_completion
from evalhub.llm.applications.application_request import PreparedRequest, prepare
from evalhub.llm.completion import Completion
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.providers.error_mapping import place
from evalhub.llm.providers.exchanges import exchanged, transport
from evalhub.llm.security.redaction import hidden


async def ask_application(
    endpoint: Endpoint, messages: Sequence[Mapping[str, Any]], params: dict[str, Any]
) -> Completion:
    """Make the request of one turn, without retries; see `gateway.complete`."""
    prepared = prepare(endpoint, messages, params)
    read = partial(_read_application, prepared)
    send = transport().handle_async_request
    request = {"request": prepared.request}
    return await exchanged(endpoint, prepared.secrets, send, request, read)


def _read_application(
    prepared: PreparedRequest, endpoint: Endpoint, response: httpx.Response, received: Completion
) -> Completion:
    if not response.is_success:
        raise ValueError(f"status {response.status_code}")
    received = replace(received, session_id=prepared.session_id)
    return application_completion(endpoint, hidden(response.text, prepared.secrets), received)


def candidate_only(endpoint: Endpoint) -> CallError:
    return CallError(
        CallErrorKind.BAD_REQUEST,
        f"{place(endpoint)} is an HTTP application: it can be tested, but it neither judges nor "
        "writes. Choose a language model.",
    )
