"""Testing the connection to a language model, and reporting the outcome."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from evalhub.llm import gateway
from evalhub.llm.completion import Completion
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.error_mapping import place
from evalhub.llm.errors import CallError

TEST_TIMEOUT_S = 30.0
TEST_MESSAGES = [{"role": "user", "content": "Reply with the word ready."}]
TEST_SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string", "maxLength": 20}},
    "required": ["word"],
    "additionalProperties": False,
}
SHOWN = 200
"""Characters of the reply that the report shows."""


@dataclass(frozen=True)
class ConnectionReport:
    """The outcome of a test. `message` is for people; the rest is for the record of the call.

    `completion` None: there was no reply. `error_kind` "": the test succeeded.
    """

    succeeded: bool
    message: str
    request_digest: str
    completion: Completion | None = None
    error_kind: str = ""


async def test_connection(endpoint: Endpoint) -> ConnectionReport:
    """Ask a model one short question, under a JSON schema if it is set to take one.

    The caller records the call. No token limit is set here, to leave room for models that reason.
    """
    asked = replace(endpoint, timeout_s=min(endpoint.timeout_s, TEST_TIMEOUT_S))
    schema = TEST_SCHEMA if endpoint.structured_output else None
    digest = gateway.request_digest(asked, TEST_MESSAGES, {}, schema)
    try:
        completion = await gateway.complete(asked, TEST_MESSAGES, {}, schema)
    except CallError as error:
        message = f"It did not work. {error.message}"
        return ConnectionReport(False, message, digest, error.completion, error.kind.value)
    return ConnectionReport(True, _success(endpoint, completion, schema), digest, completion)


def _success(endpoint: Endpoint, completion: Completion, schema: Mapping[str, Any] | None) -> str:
    text = " ".join(completion.text.split())
    shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    form = " under a JSON schema" if schema else ""
    return (
        f"It works. {place(endpoint)} was asked{form}: “{TEST_MESSAGES[0]['content']}” "
        f"It answered “{shown}” after {completion.latency_ms / 1000:.1f} s{_counted(completion)}."
    )


def _counted(completion: Completion) -> str:
    tokens = (completion.input_tokens, completion.output_tokens)
    if None in tokens:
        return "; it did not count tokens"
    cost = "" if completion.cost_usd is None else f", {completion.cost_usd:f} USD"
    return f" ({tokens[0]} tokens in, {tokens[1]} out{cost})"


test_connection.__test__ = False  # type: ignore[attr-defined]
