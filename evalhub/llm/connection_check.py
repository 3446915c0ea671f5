"""Testing the connection to a language model, and recording the call."""

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from django.utils import timezone

from evalhub.limits import CONNECTION_CHECK_TIMEOUT_S
from evalhub.llm import gateway
from evalhub.llm.applications.application_reply import findings
from evalhub.llm.completion import Completion
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.models import Call, CallRole, LanguageModel
from evalhub.llm.providers.error_mapping import place
from evalhub.llm.providers.responses import parsed
from evalhub.values.strict_json import excerpt
from evalhub.work.calls.caller import fill

TEST_MESSAGES = [{"role": "user", "content": "Reply with the word ready."}]
TEST_SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string", "maxLength": 20}},
    "required": ["word"],
    "additionalProperties": False,
}
TEST_QUESTION = [{"role": "user", "content": "What can you help me with?"}]
SHOWN = 200
"""Characters of the reply that the report shows."""
REPLY_SHOWN = 5_000


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


def probe(model: LanguageModel) -> ConnectionReport:
    """Ask the model one short question, wait for the outcome and record the call."""
    endpoint, started = model.endpoint(), timezone.now()

    async def check() -> ConnectionReport:
        try:
            return await check_connection(endpoint)
        finally:
            await gateway.close()

    with ThreadPoolExecutor(max_workers=1) as thread:  # asyncio may run already in this one
        report = thread.submit(asyncio.run, check()).result()
    call = Call(
        language_model=model,
        role=CallRole.PROBE,
        request_digest=report.request_digest,
        started_at=started,
        error_kind=report.error_kind,
        error_message="" if report.succeeded else report.message,
    )
    fill(call, report.completion)
    call.save()
    return report


async def check_connection(endpoint: Endpoint) -> ConnectionReport:
    """Ask a model one short question, under a JSON schema if it is set to take one.

    The caller records the call. No token limit is set here, to leave room for models that reason.
    """
    asked = replace(endpoint, timeout_s=min(endpoint.timeout_s, CONNECTION_CHECK_TIMEOUT_S))
    schema = TEST_SCHEMA if endpoint.structured_output and not endpoint.application else None
    messages = TEST_QUESTION if endpoint.application else TEST_MESSAGES
    digest = gateway.request_digest(asked, messages, {}, schema)
    try:
        completion = await gateway.complete(asked, messages, {}, schema)
    except CallError as error:
        message = f"It did not work. {error.message}"
        return ConnectionReport(False, message, digest, error.completion, error.kind.value)
    return ConnectionReport(True, _success(endpoint, completion, schema), digest, completion)


def _success(endpoint: Endpoint, completion: Completion, schema: Mapping[str, Any] | None) -> str:
    text = " ".join(completion.text.split())
    shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    asked = (TEST_QUESTION if endpoint.application else TEST_MESSAGES)[0]["content"]
    form = " under a JSON schema" if schema else ""
    counts = "; it did not count tokens"
    if completion.input_tokens is not None and completion.output_tokens is not None:
        cost = "" if completion.cost_usd is None else f", {completion.cost_usd:f} USD"
        counts = f" ({completion.input_tokens} tokens in, {completion.output_tokens} out{cost})"
    return (
        f"It works. {place(endpoint)} was asked{form}: “{asked}” "
        f"It answered “{shown}” after {completion.latency_ms / 1000:.1f} s{counts}."
    )


def application_check(model: LanguageModel, report: ConnectionReport) -> dict[str, Any]:
    """Return what a page shows of a test request: the request without secrets, reply, findings."""
    application = model.application()
    session_id = report.completion.session_id if report.completion else ""
    values = {
        "messages": TEST_QUESTION,
        "prompt": TEST_QUESTION[0]["content"],
        "session_id": session_id or "(a new id for each conversation)",
        **dict.fromkeys(("system_prompt", "documents"), ""),
        **{"tools": [], "params": model.params},
    }
    reply = report.completion.reply if report.completion else ""
    return {
        "report": report,
        "method": application.method,
        "headers": application.headers,
        "body": json.dumps(application.filled_body(values), indent=2, ensure_ascii=False),
        "reply": pretty(reply)[:REPLY_SHOWN],
        "findings": [
            found._replace(found=None if found.found is None else excerpt(found.found, REPLY_SHOWN))
            for found in (findings(application, reply) if reply else ())
        ],
    }


def pretty(reply: str) -> str:
    """Return a reply with line breaks if it is JSON."""
    value = parsed(reply)
    return reply if value is None else json.dumps(value, indent=2, ensure_ascii=False)
