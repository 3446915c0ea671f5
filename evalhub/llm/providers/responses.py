"""Reading replies: the provider's own JSON, and litellm's common form of it. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from typing import Any

from evalhub.llm.completion import Completion, Embedded, Ending
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.values.storable import storable


def parsed(reply: str) -> Any:
    """Return the JSON value of a reply; None if it is not JSON."""
    try:
        return json.loads(reply)
    except (ValueError, RecursionError):
        return None


def first(value: Any, *path: str | int) -> Any:
    """Return the value at a path into JSON; None if the path ends early."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and len(value) > step:
            value = value[step]
        else:
            return None
    return value


FINISH_PATHS: tuple[tuple[str | int, ...], ...] = (
    ("choices", 0, "finish_reason"),
    ("stop_reason",),
    ("stopReason",),
    ("candidates", 0, "finishReason"),
    ("done_reason",),
)


Tokens = tuple[int | None, int | None]
"""Input and output tokens; None: not counted."""


def completion_of(endpoint: Endpoint, response: Any, received: Completion) -> Completion:
    """Return the whole completion from litellm's form; raise CallError as `whole` does."""
    raw = parsed(received.reply)
    choice = response.choices[0]
    message = choice.message
    return whole(
        endpoint,
        received,
        raw,
        text=message.content or "",
        tool_calls=[call.model_dump() for call in message.tool_calls or ()],
        reasoning=getattr(message, "reasoning_content", None) or "",
        tokens=_tokens(raw, getattr(response, "usage", None)),
        finish_reason=choice.finish_reason or "",
    )


def whole(
    endpoint: Endpoint,
    received: Completion,
    raw: Any,
    *,
    text: str,
    tokens: Tokens,
    tool_calls: Sequence[Mapping[str, Any]] = (),
    reasoning: str = "",
    finish_reason: str = "",
) -> Completion:
    """Return the whole completion; raise CallError if it is empty.

    `raw` is the reply as JSON; `finish_reason` is used where the provider gives none.
    """
    refusal = first(raw, "choices", 0, "message", "refusal")
    images = first(raw, "choices", 0, "message", "images")
    reasons = (first(raw, *path) for path in FINISH_PATHS)
    own_reason = next((reason for reason in reasons if isinstance(reason, str)), "")
    completion = replace(
        received,
        text=storable(text),
        refusal=storable(refusal) if isinstance(refusal, str) else "",
        images=tuple(storable_json(image) for image in images or () if isinstance(image, dict)),
        error=storable(choice_error(raw)),
        tool_calls=tuple(storable_json(call) for call in tool_calls),
        reasoning=storable(reasoning),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cost_usd=endpoint.cost_usd(*tokens),
        finish_reason=own_reason or finish_reason,
        request_id=received.request_id or str(first(raw, "id") or ""),
    )
    if completion.is_empty:
        raise empty_answer(endpoint, completion)
    return completion


def choice_error(raw: Any) -> str:
    """Return the error that a provider sent beside an answer; "" if it sent none."""
    error = first(raw, "choices", 0, "error")
    if not isinstance(error, Mapping):
        return error if isinstance(error, str) else ""
    message = error.get("message") or json.dumps(error, ensure_ascii=False)
    return str(message)[:2000]


@dataclass
class Pieces:
    """A streamed reply as far as it has arrived."""

    texts: list[str] = field(default_factory=list)
    finish_reason: str = ""
    tokens: Tokens = (None, None)

    def add(self, text: str | None, finish_reason: str | None, tokens: Tokens | None) -> str:
        """Take a piece, and return its text."""
        self.tokens = tokens or self.tokens
        self.finish_reason = finish_reason or self.finish_reason
        added = storable(text or "")
        self.texts.append(added)
        return added


COUNTED = re.compile(r'"usage(Metadata)?": ?{')
"""Token counts in a stream; litellm estimates them if the provider did not count."""


def streamed_of(endpoint: Endpoint, pieces: Pieces, received: Completion) -> Completion:
    """Return the whole completion; raise CallError if it has no text."""
    tokens = pieces.tokens if COUNTED.search(received.reply) else (None, None)
    completion = replace(
        received,
        text="".join(pieces.texts),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cost_usd=endpoint.cost_usd(*tokens),
        finish_reason=pieces.finish_reason,
    )
    if not completion.text.strip():
        raise empty_answer(endpoint, completion)
    return completion


def embedded_of(endpoint: Endpoint, response: Any, received: Completion, n: int) -> Embedded:
    """Return n vectors from litellm's form; raise CallError as `embedded` does."""
    raw = parsed(received.reply)
    items = [dict(item) for item in response.data]
    tokens = _tokens(raw, getattr(response, "usage", None))
    return embedded(endpoint, received, raw, items, tokens[0], n)


def embedded(
    endpoint: Endpoint,
    received: Completion,
    raw: Any,
    items: Sequence[Mapping[str, Any]],
    input_tokens: int | None,
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
            "input_tokens": input_tokens,
            "cost_usd": endpoint.cost_usd(input_tokens, 0),
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


def _tokens(raw: Any, usage: Any) -> tuple[int | None, int | None]:
    """Return counted tokens; None if the provider did not count, when litellm fills in zeros."""
    is_known_form = isinstance(raw, Mapping) and ("choices" in raw or "data" in raw)
    if usage is None or (is_known_form and not raw.get("usage")):
        return None, None
    return usage.prompt_tokens, usage.completion_tokens


def empty_answer(endpoint: Endpoint, completion: Completion) -> CallError:
    reason = completion.finish_reason.lower()
    if completion.ending in (Ending.FILTERED, Ending.ERROR, Ending.ABORTED):
        return broken_off(endpoint, completion)
    if completion.ending is Ending.LENGTH:
        message = (
            f"{endpoint.name} gave no text before it reached its token limit"
            f"{' (all of it went into reasoning)' if completion.reasoning else ''}. "
            "Raise max_tokens."
        )
    else:
        message = f"{endpoint.name} answered with no text (finish reason {reason or 'none'!r})."
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
    else:
        why = completion.error or f"finish reason {reason!r}"
        message = f"{endpoint.name} broke off its answer: {why.rstrip('.')}."
    return CallError(kind, message, can_retry=can_retry, completion=completion)
