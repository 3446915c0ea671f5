"""What replies of all forms have in common, and their JSON. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from math import isfinite
from typing import Any

from evalhub.llm.completion import Completion, Embedded, Ending, Usage, ending_of
from evalhub.llm.content.content_parts import IMAGE_URL
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.providers.refusal_meaning import meaning_of
from evalhub.values.storable import storable


def parsed(reply: str) -> Any:
    """Return the JSON value of a reply; of a stream, that of its chunks put together.

    None if it is neither, or a stream that breaks off.
    """
    try:
        return json.loads(reply.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return _assembled(reply)


DATA = re.compile(r"^data:(.*)", re.MULTILINE)
ONCE = {"id", "index", "name", "role", "type"}
"""Names in the pieces of a message whose value is whole in each."""


def _assembled(stream: str) -> Any:
    """Return the reply that chunks of server-sent events make together."""
    whole: dict[str, Any] = {}
    message: dict[str, Any] = {}
    reason = error = None
    is_ended = False
    for data in DATA.findall(stream):
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            is_ended = is_ended or data.strip() == "[DONE]"
            continue
        if isinstance(chunk, dict):
            whole |= {name: value for name, value in chunk.items() if value is not None}
            _add(message, first(chunk, "choices", 0, "delta"))
            _add(message, first(chunk, "choices", 0, "message"))
            reason = first(chunk, "choices", 0, "finish_reason") or reason
            error = first(chunk, "choices", 0, "error") or error
    if "error" in whole:
        return {"error": whole["error"]}
    choice = {"message": message, "finish_reason": reason, "error": error}
    return {**whole, "choices": [choice]} if whole and (reason or is_ended) else None


def _add(message: dict[str, Any], piece: Any) -> None:
    """Add the piece of a message to what there is of it."""
    for name, value in piece.items() if isinstance(piece, dict) else ():
        before = message.get(name)
        if isinstance(value, list):
            parts = message[name] = before if isinstance(before, list) else []
            for part in value:
                place = first(part, "index")
                known = [one for one in parts if place is not None and first(one, "index") == place]
                if known and isinstance(part, dict):
                    _add(known[0], part)
                else:
                    parts.append(part)
        elif isinstance(value, dict) and isinstance(before, dict):
            _add(before, value)
        elif isinstance(value, str) and isinstance(before, str) and name not in ONCE:
            message[name] = before + value
        elif value is not None and (name not in ONCE or not before):
            message[name] = value


def first(value: Any, *path: str | int) -> Any:
    """Return the value at a path into JSON; None if the path ends early."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


FINISH_PATHS: tuple[tuple[str | int, ...], ...] = (
    ("choices", 0, "finish_reason"),
    ("choices", 0, "native_finish_reason"),
    ("incomplete_details", "reason"),
    ("stop_reason",),
    ("stopReason",),
    ("candidates", 0, "finishReason"),
    ("done_reason",),
)


def whole(
    endpoint: Endpoint,
    received: Completion,
    raw: Any,
    *,
    text: str,
    usage: Usage,
    tool_calls: Sequence[Mapping[str, Any]] = (),
    reasoning: str = "",
    may_hold_reasoning: bool = False,
    finish_reason: str = "",
) -> Completion:
    """Return the whole completion; raise CallError if it is empty.

    `raw` is the reply as JSON; `finish_reason` is used where the provider gives none.
    """
    message = first(raw, "choices", 0, "message") or first(raw, "output", -1)
    beside = [first(message, name) for name in ("images", "content")]
    parts = [part for found in beside if isinstance(found, list) for part in found]
    images = [part for part in parts if first(part, "type") == IMAGE_URL]
    refusals = [one for part in (message, *parts) if isinstance(one := first(part, "refusal"), str)]
    found = (first(raw, *path) for path in FINISH_PATHS)
    reasons = [reason for reason in found if isinstance(reason, str)]
    own_reason = next(filter(ending_of, reasons), reasons[0] if reasons else "")
    completion = replace(
        received,
        text=storable(text),
        refusal=storable("".join(refusals)),
        images=tuple(map(storable_json, images)),
        error=storable(choice_error(raw)),
        tool_calls=tuple(storable_json(call) for call in tool_calls),
        reasoning=storable(reasoning),
        may_hold_reasoning=may_hold_reasoning,
        **asdict(usage),
        cost_usd=endpoint.bill(usage),
        finish_reason=own_reason or finish_reason,
        request_id=received.request_id or str(first(raw, "id") or ""),
    )
    if completion.is_empty:
        raise empty_answer(endpoint, completion)
    return completion


def stated_error(raw: Any) -> Any:
    """Return the error that a provider sent as a success, or beside an answer; None: none."""
    if first(raw, "base_resp", "status_code"):  # of MiniMax
        return {"message": first(raw, "base_resp", "status_msg")}
    if reason := first(raw, "promptFeedback", "blockReason"):  # of Gemini
        return {"message": f"The prompt was blocked: {reason}"}
    return first(raw, "choices", 0, "error") or first(raw, "error")


def choice_error(raw: Any) -> str:
    """Return the words of an error beside an answer; "" if there is none."""
    error = stated_error(raw)
    if not isinstance(error, Mapping):
        return error if isinstance(error, str) else ""
    message = error.get("message") or json.dumps(error, ensure_ascii=False)
    return str(message)[:2000]


def embedded(
    endpoint: Endpoint,
    received: Completion,
    raw: Any,
    items: Sequence[Mapping[str, Any]],
    usage: Usage,
    n: int,
) -> Embedded:
    """Return n vectors of one length, of finite numbers; raise CallError for anything else."""
    vectors = tuple(
        _vector(item["embedding"]) for item in sorted(items, key=lambda item: int(item["index"]))
    )
    kept = {k: v for k, v in raw.items() if k != "data"} if isinstance(raw, Mapping) else {}
    made = Embedded(
        **asdict(received)
        | {
            "input_tokens": usage.input_tokens,
            "cost_usd": endpoint.bill(replace(usage, output_tokens=usage.output_tokens or 0)),
            "reply": json.dumps(kept, ensure_ascii=False),
        },
        vectors=vectors,
    )
    lengths = {len(vector) for vector in vectors}
    if len(vectors) != n or len(lengths) != 1 or 0 in lengths:
        raise CallError(
            CallErrorKind.UNREADABLE_REPLY,
            f"{endpoint.name} sent {len(vectors)} vectors of {sorted(lengths)} numbers for {n} "
            "texts. Check that it is an embedding model.",
            completion=made,
        )
    return made


def _vector(value: Any) -> tuple[float, ...]:
    """Return the numbers of a vector; none if one is not finite."""
    if not isinstance(value, list):
        return ()
    numbers = [float(number) for number in value if isinstance(number, int | float)]
    return tuple(numbers) if len(numbers) == len(value) and all(map(isfinite, numbers)) else ()


def storable_json(value: Any) -> Any:
    """Make a JSON value's texts storable in a database."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {storable(str(key)): storable_json(inner) for key, inner in value.items()}
    return [storable_json(inner) for inner in value] if isinstance(value, list) else value


def empty_answer(endpoint: Endpoint, completion: Completion) -> CallError:
    reason = completion.finish_reason.lower()
    if completion.ending in (Ending.FILTERED, Ending.ERROR, Ending.ABORTED):
        return broken_off(endpoint, completion)
    where = " (all of it went into reasoning)" if completion.reasoning else ""
    if completion.ending is Ending.LENGTH:
        message = f"{endpoint.name} gave no text before it reached its token limit{where}. "
        message += "Raise max_tokens."
    else:
        message = f"{endpoint.name} answered with no text (finish reason {reason or 'none'!r})"
        message += f"{where}."
    is_passing = completion.ending is Ending.WHOLE
    return CallError(
        CallErrorKind.EMPTY_ANSWER, message, can_retry=is_passing, completion=completion
    )


def broken_off(endpoint: Endpoint, completion: Completion) -> CallError:
    """Return the error of a reply that broke off, for whoever cannot use a part of one."""
    reason, ending = completion.finish_reason, completion.ending
    kind, can_retry = CallErrorKind.BROKEN_OFF, ending in (Ending.ERROR, Ending.ABORTED)
    if ending is Ending.FILTERED:
        kind = CallErrorKind.CONTENT_FILTERED
        message = f"{endpoint.name} withheld its answer: its content filter stepped in"
        message += f" (finish reason {reason!r})."
    elif ending is Ending.LENGTH:
        message = f"{endpoint.name} was cut off at its token limit. Raise max_tokens."
    elif ending is Ending.PROMPT_CUT:
        message = f"{endpoint.name} cut the prompt: {completion.prompt_cut}. "
        message += "Raise the server's context length (num_ctx of Ollama)."
    else:
        if meaning_of(400, completion.error).kind is CallErrorKind.CONTENT_FILTERED:
            kind, can_retry = CallErrorKind.CONTENT_FILTERED, False
        why = f": {completion.error.rstrip('.')}" if completion.error else ""
        message = f"{endpoint.name} broke off its answer (finish reason {reason!r}){why}."
    return CallError(kind, message, can_retry=can_retry, is_billed=True, completion=completion)
