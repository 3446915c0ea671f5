"""The one door to language models, and the only importer of litellm.

litellm is imported at the first call (seconds and 160 MB), so only where calls are made.
"""

import asyncio
import hashlib
import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from evalhub.llm import failures
from evalhub.llm.completion import Completion
from evalhub.llm.connections import Exchange, Transport, recorded
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind, redact
from evalhub.llm.network import ForbiddenAddress, check_base_url
from evalhub.llm.parameters import parameter_problems
from evalhub.llm.wire import completion_of, empty_answer

Messages = Sequence[Mapping[str, Any]]

NO_KEY = "none"
"""Sent where no key is named, so that litellm does not look for one in the environment itself."""

GRACE_S = 5.0
"""Beyond the endpoint's own time-out, for what does not go through our transport."""


async def complete(
    endpoint: Endpoint,
    messages: Messages,
    params: Mapping[str, Any],
    schema: Mapping[str, Any] | None = None,
) -> Completion:
    """One request to a provider; no second try.

    Args:
        endpoint: Whom to ask; its parameters are sent unless `params` overrides them.
        messages: As chat models take them.
        params: Any that the provider takes, by name; a value of None is not sent.
        schema: JSON schema of the reply, sent when the endpoint takes one.

    Raises:
        CallError: With what happened and whether another try can help.
    """
    key = _key(endpoint)
    request = _request(endpoint, messages, params, schema)
    litellm = load()
    started = time.perf_counter()
    with recorded() as exchange:
        try:
            async with asyncio.timeout(endpoint.timeout_s + GRACE_S):
                response = await litellm.acompletion(api_key=key or None, **request)
        except Exception as error:
            received = _received(endpoint, exchange, started, key)
            raise failures.explain(endpoint, exchange, error, received, key) from None
    return _accepted(endpoint, response, _received(endpoint, exchange, started, key))
