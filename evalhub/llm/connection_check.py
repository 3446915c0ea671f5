"""Testing the connection to a language model, and recording the call."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from django.utils import timezone

from evalhub.limits import CONNECTION_CHECK_TIMEOUT_S
from evalhub.llm import capabilities, gateway
from evalhub.llm.applications.application_reply import findings
from evalhub.llm.completion import Completion
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.errors import CallErrorKind as Kind
from evalhub.llm.models import Call, CallRole, LanguageModel
from evalhub.llm.providers.error_mapping import place
from evalhub.llm.providers.responses import parsed
from evalhub.llm.verdicts.judge_params import params_for
from evalhub.llm.verdicts.judge_replies import Unreadable, parse_verdict, verdict_schema
from evalhub.values.strict_json import excerpt
from evalhub.work.calls.records import fill

READY = "Reply with the word ready."
TEST_MESSAGES = [
    {"role": "system", "content": "You are being tested."},
    {"role": "user", "content": READY},
]
TOOL = {
    "type": "function",
    "function": {
        "name": "say",
        "description": "Says a word.",
        "parameters": {
            "type": "object",
            "properties": {"word": {"type": "string"}},
            "required": ["word"],
        },
    },
}
JUDGE_MESSAGES = [
    {
        "role": "user",
        "content": "Is four the sum of two and two? Reply with one JSON object with the keys "
        '"justification" and "score", which is 1 for yes and 0 for no.',
    }
]


class Score(NamedTuple):
    """An option of the test's judge."""

    label: str
    value: float


NO_AND_YES = (Score("0", 0.0), Score("1", 1.0))
TEST_QUESTION = [{"role": "user", "content": "What can you help me with?"}]
SHOWN = 200
"""Characters of the reply that the report shows."""
REPLY_SHOWN = 5_000


class Ask(NamedTuple):
    """A request of a test, in the words of its report."""

    role: str
    messages: list[dict[str, Any]]
    params: dict[str, Any]
    schema: dict[str, Any] | None = None


def asks_of(endpoint: Endpoint) -> list[Ask]:
    """Return what candidates and judges ask; no token limit for the first ones, as in runs."""
    if endpoint.application:
        return [Ask("", TEST_QUESTION, {})]
    schema = verdict_schema(NO_AND_YES)
    params = params_for(endpoint, {}, schema)
    return [
        Ask("", TEST_MESSAGES, {}),
        Ask(" with a tool", TEST_MESSAGES, {"tools": [TOOL]}),
        Ask(" as a judge", JUDGE_MESSAGES, params, schema if endpoint.structured_output else None),
    ]


@dataclass(frozen=True)
class ConnectionReport:
    """The outcome of a request. `message` is for people; the rest is for the record of the call.

    `completion` None: there was no reply. `error_kind` "": it succeeded.
    """

    succeeded: bool
    message: str
    request_digest: str
    completion: Completion | None = None
    error_kind: str = ""


def probe(model: LanguageModel) -> list[ConnectionReport]:
    """Ask the model what a candidate and a judge would ask; record the calls and what it refuses.

    What it refused before is tried again. If the first request fails, the others are not made.
    """
    endpoint, started = model.endpoint(), timezone.now()
    capabilities.follow(model.pk, {})

    async def check() -> list[ConnectionReport]:
        try:
            return await check_connection(endpoint)
        finally:
            await gateway.close()

    with ThreadPoolExecutor(max_workers=1) as thread:  # asyncio may run already in this one
        reports = thread.submit(asyncio.run, check()).result()
    for report in reports:
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
    if reports[0].succeeded:
        refused = dict(capabilities.refused_by(model.pk))
        for of_tools in reports[1:2]:
            if of_tools.error_kind in (Kind.BAD_REQUEST, Kind.NOT_FOUND):
                words = of_tools.message.removeprefix("It did not work with a tool. ").rstrip(".")
                refused["tools"] = {"words": words, "instead": "", "only": None}
        LanguageModel.objects.filter(pk=model.pk).update(refused_params=refused)
    capabilities.follow(model.pk, LanguageModel.objects.get(pk=model.pk).refused_params)
    return reports


async def check_connection(endpoint: Endpoint) -> list[ConnectionReport]:
    """Make the requests of a test, one after the other; the caller records the calls."""
    asked = replace(endpoint, timeout_s=min(endpoint.timeout_s, CONNECTION_CHECK_TIMEOUT_S))
    reports: list[ConnectionReport] = []
    for ask in asks_of(endpoint):
        reports.append(await _report(asked, ask))
        if not reports[0].succeeded:
            break
    return reports


async def _report(endpoint: Endpoint, ask: Ask) -> ConnectionReport:
    _, messages, params, schema = ask
    digest = gateway.request_digest(endpoint, messages, params, schema)
    try:
        completion = await gateway.complete(endpoint, messages, params, schema)
    except CallError as error:
        message = f"It did not work{ask.role}. {error.message}"
        return ConnectionReport(False, message, digest, error.completion, error.kind.value)
    return ConnectionReport(True, _success(endpoint, completion, ask), digest, completion)


def _success(endpoint: Endpoint, completion: Completion, ask: Ask) -> str:
    calls = [tool_call.get("function", {}) for tool_call in completion.tool_calls]
    called = [f"call of {call.get('name')}({call.get('arguments')})" for call in calls]
    text = " ".join([*completion.text.split(), *called])
    shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    counts = "; it did not count tokens"
    if completion.input_tokens is not None and completion.output_tokens is not None:
        cost = "" if completion.cost_usd is None else f", {completion.cost_usd:f} USD"
        counts = f" ({completion.input_tokens} tokens in, {completion.output_tokens} out{cost})"
    form = " under a JSON schema" if ask.schema else ""
    sentences = [
        f"It works{ask.role}. {place(endpoint)} was asked{form}: “{ask.messages[-1]['content']}”",
        f"It answered “{shown}” after {completion.latency_ms / 1000:.1f} s{counts}.",
    ]
    if ask.schema and isinstance(parse_verdict(completion.text, NO_AND_YES), Unreadable):
        sentences.append("No verdict could be read from it.")
    if refused := completion.refused_params:
        sentences.append(f"Left out, as the endpoint refuses it: {', '.join(sorted(refused))}.")
    return " ".join(sentences)


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
    value = parsed(reply)
    return {
        "report": report,
        "method": application.method,
        "headers": application.headers,
        "body": _json(application.filled_body(values)),
        "reply": (reply if value is None else _json(value))[:REPLY_SHOWN],
        "findings": [
            found._replace(found=None if found.found is None else excerpt(found.found, REPLY_SHOWN))
            for found in (findings(application, reply) if reply else ())
        ],
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
