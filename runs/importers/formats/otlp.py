"""Runs as OpenTelemetry traces: OTLP JSON with the GenAI semantic conventions. Pure."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from evalhub.values.digest import digest
from runs.importers.formats.records import (
    Json,
    PeerAnswer,
    PeerRun,
    PeerScore,
    PeerTest,
    as_number,
    as_text,
    object_of,
)

EVALUATION = "gen_ai.evaluation.result"
VERSION = "https://opentelemetry.io/schemas/1.37.0"


def write_run(
    run: PeerRun, tests: Sequence[PeerTest], *, ended: Sequence[datetime], address: str
) -> Json:
    """Return a run as traces in OTLP JSON, one for each answer, its scores as events.

    Args:
        ended: When each answer was given.
        address: The site's, as the service's name space.
    """
    by_key = {test.key: test for test in tests}
    spans = [
        _span(run, by_key[answer.test], answer, end)
        for answer, end in zip(run.answers, ended, strict=True)
    ]
    service = {"service.name": "evalhub", "service.namespace": address, "evalhub.run": run.label}
    scope = {"scope": {"name": "evalhub"}, "schemaUrl": VERSION, "spans": spans}
    return {
        "resourceSpans": [{"resource": {"attributes": _written(service)}, "scopeSpans": [scope]}]
    }


def _span(run: PeerRun, test: PeerTest, answer: PeerAnswer, ended: datetime) -> Json:
    end = int(ended.timestamp() * 1_000_000) * 1000
    start = end - (answer.latency_ms or 0) * 1_000_000
    seed = digest([[run.label, run.model, run.system_prompt], answer.test, answer.repeat])
    system = [{"type": "text", "content": run.system_prompt}] if run.system_prompt else None
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": run.model,
        "gen_ai.conversation.id": f"{answer.test}/{answer.repeat}",
        "gen_ai.usage.input_tokens": answer.input_tokens,
        "gen_ai.usage.output_tokens": answer.output_tokens,
        "gen_ai.request.temperature": as_number(run.params.get("temperature")),
        "gen_ai.system_instructions": system and json.dumps(system, ensure_ascii=False),
        "gen_ai.input.messages": json.dumps(
            [_parts(one) for one in test.messages], ensure_ascii=False
        ),
        "gen_ai.output.messages": None
        if answer.error
        else json.dumps([_reply(answer)], ensure_ascii=False),
        "error.type": "evalhub_error" if answer.error else None,
        "evalhub.cost_usd": answer.cost_usd,
        "evalhub.test": answer.test,
        "evalhub.repeat": answer.repeat,
    }
    status = {"code": 2, "message": answer.error} if answer.error else {}
    return {
        "traceId": seed[:32],
        "spanId": seed[32:48],
        "name": f"chat {run.model}",
        "kind": 3,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(end),
        "attributes": _written(attributes),
        "events": [_event(one, end) for one in answer.scores],
        "status": status,
    }


def _parts(message: Mapping[str, Any]) -> Json:
    content = message["content"]
    texts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    parts: list[Json] = [
        {"type": "text", "content": one["text"]} if one.get("type") == "text" else dict(one)
        for one in texts
    ]
    return {"role": message["role"], "parts": parts}


def _reply(answer: PeerAnswer) -> Json:
    parts: list[Json] = [{"type": "text", "content": answer.text}] if answer.text else []
    for call in answer.tool_calls:
        function = object_of(call.get("function")) or call
        part = {"name": function.get("name"), "arguments": function.get("arguments")}
        parts.append({"type": "tool_call", **part})
    return {"role": "assistant", "parts": parts, "finish_reason": "stop"}


def _event(score: PeerScore, at: int) -> Json:
    attributes = {
        "gen_ai.evaluation.name": score.name,
        "gen_ai.evaluation.score.value": score.value,
        "gen_ai.evaluation.score.label": score.passed
        if score.passed is None
        else ("fail", "pass")[score.passed],
        "gen_ai.evaluation.explanation": score.explanation or None,
    }
    return {"timeUnixNano": str(at), "name": EVALUATION, "attributes": _written(attributes)}


def _written(attributes: Mapping[str, Any]) -> list[Json]:
    """Return attributes as OTLP has them; None is left out."""
    return [
        {"key": name, "value": _typed(value)}
        for name, value in attributes.items()
        if value is not None
    ]


def _typed(value: Any) -> Json:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": as_text(value)}
