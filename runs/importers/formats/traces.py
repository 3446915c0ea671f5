"""Traces of applications, read as feedback. Pure.

Exports of Langfuse, spans of Phoenix (OpenInference), and OTLP JSON with the GenAI semantic
conventions.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalhub.values.digest import digest
from runs.importers.formats.otlp import EVALUATION
from runs.importers.formats.records import (
    Contents,
    Document,
    Json,
    as_list,
    as_text,
    message_of,
    messages_of,
    object_of,
    unpacked,
)

NAME = "traces"
TITLE = "Langfuse, Phoenix or OpenTelemetry traces"
MAX_DEPTH = 8
CHATS = ("chat", "text_completion", "generate_content")
RATING_NAMES = ("feedback", "rating", "thumb", "thumbs", "like")
MAX_RAW = 20_000


def matches(document: Document) -> bool:
    first = object_of(document.value)
    langfuse = (
        "input" in first
        and "output" in first
        and bool(
            first.keys() & {"observations", "scores", "traceId", "userId", "sessionId", "htmlPath"}
        )
    )
    nested = "trace" in first and "observations" in first
    data = object_of(next(iter(as_list(first.get("data"))), {}))
    is_span = _is_span(first) or _is_span(data)
    return "resourceSpans" in first or is_span or langfuse or nested or "traceId" in data


def read(document: Document) -> Contents:
    contents = Contents(title=document.stem)
    found = list(_found(document.values))
    spans = [one for one in found if _is_span(one)]
    calls = [one for one in spans if _is_call(one)]
    if skipped := len(spans) - len(calls):
        contents.notes["Spans that call no model are left out."] += skipped
    contents.feedback += [row for one in calls if (row := _of_span(one))]
    traces = [one for one in found if not _is_span(one)]
    steps = [one for one in traces if one.get("type") not in (None, "GENERATION")]
    if steps:
        contents.notes["Observations that call no model are left out."] += len(steps)
    contents.feedback += [row for one in traces if one not in steps and (row := _of_langfuse(one))]
    empty = len(found) - skipped - len(steps) - len(contents.feedback)
    if empty > 0:
        contents.notes["Traces without any input and output are left out."] += empty
    if not contents.feedback:
        contents.problems.append("There is no trace with an input or an output.")
    return contents


def _found(values: Sequence[Any]) -> Iterator[Json]:
    """Yield the traces and spans in lists, in `data` and in OTLP's nesting."""
    for value in values:
        fields = object_of(value)
        if "resourceSpans" in fields:
            yield from _of_otlp(fields)
        elif isinstance(fields.get("data"), list):
            yield from _found(fields["data"])
        elif isinstance(fields.get("trace"), Mapping):
            yield {**fields["trace"], **{k: v for k, v in fields.items() if k != "trace"}}
        elif isinstance(fields.get("attributes"), list):
            yield _of_otlp_span(fields)
        elif fields:
            yield dict(fields)


def _of_otlp(found: Mapping[str, Any]) -> Iterator[Json]:
    for resource in map(object_of, as_list(found.get("resourceSpans"))):
        about = _attributes(object_of(resource.get("resource")).get("attributes"))
        for scope in map(object_of, as_list(resource.get("scopeSpans"))):
            for span in map(object_of, as_list(scope.get("spans"))):
                yield {**_of_otlp_span(span), "service": about.get("service.name")}


def _of_otlp_span(span: Mapping[str, Any]) -> Json:
    ids = (span.get("traceId", span.get("trace_id")), span.get("spanId", span.get("span_id")))
    events = [
        {"name": event.get("name"), "attributes": _attributes(event.get("attributes"))}
        for event in map(object_of, as_list(span.get("events")))
    ]
    return {
        "context": dict(zip(("trace_id", "span_id"), ids, strict=True)),
        "name": span.get("name"),
        "attributes": _attributes(span.get("attributes")),
        "events": events,
    }


def _attributes(given: Any) -> Json:
    return {
        as_text(one.get("key")): _value(one.get("value")) for one in map(object_of, as_list(given))
    }


def _value(given: Any, depth: int = 0) -> Any:
    """Return a value by its type, whose name is written in either of two ways."""
    fields = {
        as_text(name).replace("_v", "V"): value
        for name, value in object_of(given).items()
        if value is not None
    }
    if depth > MAX_DEPTH:
        return None
    if "intValue" in fields:
        text = as_text(fields["intValue"])
        return int(text) if text.removeprefix("-").isdecimal() and len(text) < 20 else None
    if "arrayValue" in fields:
        values = as_list(object_of(fields["arrayValue"]).get("values"))
        return [_value(one, depth + 1) for one in values]
    if "kvlistValue" in fields:
        values = as_list(object_of(fields["kvlistValue"]).get("values"))
        return {
            as_text(one.get("key")): _value(one.get("value"), depth + 1)
            for one in map(object_of, values)
        }
    return next(iter(fields.values()), None)


# Spans -------------------------------------------------------------------------------------------


def _is_span(found: Mapping[str, Any]) -> bool:
    return "attributes" in found or any(name.startswith("attributes.") for name in found)


def _flat(span: Mapping[str, Any]) -> Json:
    """Return a span's attributes by their dotted names, however they are nested."""
    flat: Json = {}

    def add(name: str, value: Any, depth: int) -> None:
        if isinstance(value, Mapping) and depth < MAX_DEPTH:
            for key, inner in value.items():
                add(f"{name}.{key}" if name else key, inner, depth + 1)
        else:
            flat[name] = value

    add("", object_of(span.get("attributes")), 0)
    for name, value in span.items():
        if name.startswith("attributes."):
            add(name.removeprefix("attributes."), value, 1)
    return flat


def _is_call(span: Mapping[str, Any]) -> bool:
    flat = _flat(span)
    kind = as_text(flat.get("openinference.span.kind") or span.get("span_kind")).upper()
    is_langfuse = flat.get("langfuse.observation.type") == "generation"
    return flat.get("gen_ai.operation.name") in CHATS or kind == "LLM" or is_langfuse


def _of_span(span: Mapping[str, Any]) -> Json | None:
    flat, context = _flat(span), object_of(span.get("context"))
    asked = _gen_ai(flat.get("gen_ai.input.messages")) or _openinference(flat, "llm.input_messages")
    system = _gen_ai_parts(flat.get("gen_ai.system_instructions"))
    replied = _gen_ai(flat.get("gen_ai.output.messages")) or _openinference(
        flat, "llm.output_messages"
    )
    asked = asked or messages_of(unpacked(_first(flat, INPUTS)))
    answer = (replied[-1] if replied else _reply(_first(flat, OUTPUTS)))["content"]
    if system and asked and asked[0]["role"] != "system":
        asked = [{"role": "system", "content": system}, *asked]
    trace = context.get("trace_id") or span.get("context.trace_id")
    own = context.get("span_id") or span.get("context.span_id") or span.get("id")
    called = object_of(unpacked(flat.get("llm.invocation_parameters"))).get("model")
    kept = {k: v for k, v in flat.items() if not k.startswith(CONTENT)}
    rated = [*_annotations(span), *_evaluations(span)]
    return _row(
        source_id=":".join(map(as_text, filter(None, (trace, own)))),
        source=as_text(span.get("service")) or "traces",
        model=as_text(_first(flat, MODELS) or called),
        messages=asked,
        answer=as_text(answer),
        scores=rated,
        raw={"name": span.get("name"), **kept},
    )


INPUTS = ("input.value", "gen_ai.prompt", "langfuse.observation.input")
OUTPUTS = ("output.value", "gen_ai.completion", "langfuse.observation.output")
MODELS = (
    *("gen_ai.response.model", "gen_ai.request.model"),
    *("llm.model_name", "langfuse.observation.model.name"),
)
CONTENT = (
    *("gen_ai.input", "gen_ai.output", "gen_ai.system_i", "gen_ai.prompt", "gen_ai.completion"),
    *("llm.input_messages", "llm.output_messages", "input.", "output."),
    *("langfuse.observation.input", "langfuse.observation.output"),
)
"""Beginnings of the names of attributes with texts."""


def _first(flat: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first of these attributes that says something; "" if none does."""
    return next((flat[name] for name in names if flat.get(name)), "")


def _reply(given: Any) -> Json:
    """Return the message that an output holds, in whatever form, or is."""
    output = unpacked(given)
    return message_of(output) or (messages_of(output)[-1] if output else {"content": ""})


def _gen_ai(given: Any) -> list[Json]:
    """Return messages of the conventions: roles with parts."""
    found = []
    for one in map(object_of, as_list(unpacked(given))):
        calls = [object_of(part) for part in as_list(one.get("parts"))]
        message = message_of(
            {**one, "content": _gen_ai_parts(one.get("parts")) or one.get("content")}
        )
        if message:
            tools = [_tool_call(part) for part in calls if part.get("type") == "tool_call"]
            found.append({**message, **({"tool_calls": tools} if tools else {})})
    return found


def _gen_ai_parts(given: Any) -> str:
    parts = map(object_of, as_list(unpacked(given)))
    texts = (
        part.get("content", part.get("response"))
        for part in parts
        if part.get("type") != "tool_call"
    )
    return "\n".join(as_text(text) for text in texts if text)


def _tool_call(part: Mapping[str, Any]) -> Json:
    function = {"name": as_text(part.get("name")), "arguments": as_text(part.get("arguments"))}
    return {"id": as_text(part.get("id")), "type": "function", "function": function}


def _openinference(flat: Mapping[str, Any], prefix: str) -> list[Json]:
    given = flat.get(prefix)
    if isinstance(given, list):
        messages = [object_of(one).get("message", object_of(one)) for one in given]
        plain = [{k.removeprefix("message."): v for k, v in object_of(m).items()} for m in messages]
        return [one for one in map(message_of, plain) if one]
    found: dict[int, Json] = {}
    for name, value in flat.items():
        steps = name.removeprefix(f"{prefix}.").split(".")
        if name.startswith(f"{prefix}.") and steps[0].isdecimal() and len(steps) == 3:
            found.setdefault(int(steps[0]), {})[steps[2]] = value
    return [one for n in sorted(found) if (one := message_of(found[n]))]


def _annotations(span: Mapping[str, Any]) -> Iterator[Json]:
    for one in map(object_of, as_list(span.get("annotations"))):
        result = object_of(one.get("result")) or one
        yield {
            "name": one.get("name"),
            "value": result.get("score"),
            "label": result.get("label"),
            "comment": result.get("explanation"),
        }


def _evaluations(span: Mapping[str, Any]) -> Iterator[Json]:
    for event in map(object_of, as_list(span.get("events"))):
        if event.get("name") == EVALUATION:
            found = object_of(event.get("attributes"))
            yield {
                "name": found.get("gen_ai.evaluation.name"),
                "value": found.get("gen_ai.evaluation.score.value"),
                "label": found.get("gen_ai.evaluation.score.label"),
                "comment": found.get("gen_ai.evaluation.explanation"),
            }


# Langfuse ----------------------------------------------------------------------------------------


def _of_langfuse(trace: Mapping[str, Any]) -> Json | None:
    observations = [object_of(one) for one in as_list(trace.get("observations"))]
    calls = [one for one in observations if one.get("type") == "GENERATION"]
    given = trace.get("input"), trace.get("output")
    if given == (None, None) and calls:
        given = calls[0].get("input"), calls[-1].get("output")
    last = calls[-1] if calls else trace
    text = _reply(given[1])["content"] or ""
    kept = ("name", "timestamp", "userId", "sessionId", "metadata", "tags", "release", "version")
    source = as_text(trace.get("environment") or "langfuse")
    return _row(
        source_id=as_text(trace.get("id")),
        source=source,
        model=as_text(last.get("model") or last.get("providedModelName")),
        messages=messages_of(unpacked(given[0])) if given[0] else [],
        answer=text,
        scores=[dict(object_of(one)) for one in as_list(trace.get("scores"))],
        raw={name: trace[name] for name in kept if trace.get(name)},
    )


def _row(
    *,
    source_id: str,
    source: str,
    model: str,
    messages: list[Json],
    answer: str,
    scores: list[Json],
    raw: Json,
) -> Json | None:
    """Return feedback; None if nothing was asked or answered. Unclear scores give no rating."""
    asked = [one for one in messages if one["content"] or one.get("tool_calls")]
    if not asked and not answer.strip():
        return None
    comments = [as_text(one.get("comment")) for one in scores if one.get("comment")]
    rows = {"scores": scores} if scores else {}
    is_long = len(json.dumps(raw, default=str)) > MAX_RAW
    is_plain = len(asked) == 1 and asked[0]["role"] == "user"
    prompt = asked[0]["content"] if is_plain else ""
    turn = [{"role": "assistant", "content": answer}] if answer.strip() else []
    text = (
        {"prompt": prompt, "answer": answer}
        if is_plain or not asked
        else {"messages": [*asked, *turn]}
    )
    return {
        **text,
        "comment": "\n".join(comments),
        "rating": next(filter(None, map(_rating, scores)), "none"),
        "model": model[:200],
        "source": source[:100],
        "source_id": source_id if len(source_id) <= 100 else digest(source_id),
        "raw": {**({} if is_long else raw), **rows},
    }


def _rating(score: Mapping[str, Any]) -> str:
    """Return the rating of a score that is a person's thumb; "" of any other."""
    name = as_text(score.get("name")).lower().replace("_", "-")
    if not any(part in RATING_NAMES for part in name.split("-")):
        return ""
    value = score.get("value")
    label = as_text(score.get("label") or score.get("stringValue")).lower()
    if label in ("thumbs-up", "up", "positive", "true") or (value == 1 and value is not None):
        return "up"
    is_down = label in ("thumbs-down", "down", "negative", "false") or value in (0, -1)
    return "down" if (is_down and value is not None) or label in ("thumbs-down", "down") else ""
