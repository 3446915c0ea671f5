"""Contents of a peer's file in one form: tests, runs and feedback. Pure.

A module of a format reads a `Document` to `Contents`, and writes tests or a run where the peer can
read them. What has no equal here is named in `notes`, and what a peer keeps besides in `extras`, so
that it comes out again.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evalhub.values.digest import digest
from issues.content.test_content import FIELDS

Json = dict[str, Any]
MAX_NAME = 150
TEXTS = tuple(f.name for f in FIELDS if f.is_text and f.columns and f.name != "reference")
"""Texts of a test that a table may have, besides its reference."""


@dataclass(frozen=True)
class Document:
    """A file as it was read: one value, or the values of its lines.

    `values` of a zip archive are its JSON files by name.
    """

    name: str
    kind: str
    values: list[Any]

    @property
    def value(self) -> Any:
        return self.values[0] if self.values else None

    @property
    def stem(self) -> str:
        return self.name.replace("\\", "/").rpartition("/")[2].partition(".")[0]


@dataclass
class PeerTest:
    """A test. `key` tells it apart in its file; `extras` are the peer's own fields.

    `texts` are of `TEXTS` by name.
    """

    key: str
    messages: list[Json]
    reference: str = ""
    criteria: list[Json] = field(default_factory=list)
    tools: list[Json] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    weight: float = 1
    pass_threshold: float | None = None
    extras: Json = field(default_factory=dict)


class PeerScore(NamedTuple):
    """A peer's score: `value` in [0, 1] or `passed`, of a criterion by key or of the whole test."""

    name: str
    value: float | None
    passed: bool | None = None
    explanation: str = ""
    criterion: str = ""


@dataclass
class PeerAnswer:
    """An answer, or the error in its place. None is not measured."""

    test: str
    text: str = ""
    repeat: int = 1
    error: str = ""
    tool_calls: list[Json] = field(default_factory=list)
    latency_ms: int | None = None
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    scores: list[PeerScore] = field(default_factory=list)


@dataclass
class PeerRun:
    """A run of one model; its name is "" where the file does not say it."""

    label: str
    model: str = ""
    system_prompt: str = ""
    params: Json = field(default_factory=dict)
    answers: list[PeerAnswer] = field(default_factory=list)


@dataclass
class Contents:
    """All that a file holds. With `problems`, nothing of it is imported."""

    title: str
    tests: list[PeerTest] = field(default_factory=list)
    runs: list[PeerRun] = field(default_factory=list)
    feedback: list[Json] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    @property
    def remarks(self) -> list[str]:
        return [
            f"{text} ({times} times)" if times > 1 else text for text, times in self.notes.items()
        ]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def as_text(value: Any) -> str:
    """Return a text as it is, and any other value as JSON; "" for None."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def as_number(value: Any) -> float | None:
    """Return a finite number; None for anything else, true and false included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e15 else None


def as_count(value: Any) -> int | None:
    number = as_number(value)
    return None if number is None or number < 0 else round(number)


def as_share(value: Any) -> float | None:
    """Return a number from 0 to 1; None for anything else."""
    number = as_number(value)
    return number if number is not None and 0 <= number <= 1 else None


def object_of(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def user(text: str) -> list[Json]:
    return [{"role": "user", "content": text}]


def message_of(value: Any) -> Json | None:
    """Return a chat message in our form; None if it is none."""
    fields = object_of(value)
    role = {"developer": "system", "ai": "assistant", "human": "user", "model": "assistant"}.get(
        str(fields.get("role")), fields.get("role")
    )
    if role not in ("system", "user", "assistant", "tool"):
        return None
    content = fields.get("content")
    if isinstance(content, list):
        content = "\n".join(filter(None, map(_part_text, content)))
    message: Json = {"role": role, "content": as_text(content)}
    names = ("tool_calls", "tool_call_id", "name")
    message |= {name: fields[name] for name in names if fields.get(name)}
    if message.get("tool_calls") and not message["content"]:
        message["content"] = None
    return message


def _part_text(part: Any) -> str:
    fields = object_of(part)
    return as_text(fields.get("text", fields.get("content"))) if fields else as_text(part)


def messages_of(value: Any) -> list[Json]:
    """Return the chat messages of a text, a list or an object with `messages`."""
    if isinstance(value, Mapping):
        value = value.get("messages", value)
    if isinstance(value, list) and value and all(object_of(one).get("role") for one in value):
        return [one for one in map(message_of, value) if one]
    return user(as_text(value))


def unpacked(value: Any) -> Any:
    """Return the value of a text that is a list or an object as JSON; any other as it is."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def chat_of(text: str) -> list[Json]:
    """Return the messages of a prompt that is a chat as JSON, or one of the user."""
    found = unpacked(text)
    is_chat = isinstance(found, list) and all(object_of(one).get("role") for one in found)
    return messages_of(found if found and is_chat else text)


def without_answer(messages: list[Json]) -> list[Json]:
    """Return the messages before the answers that end a conversation."""
    while messages and messages[-1]["role"] == "assistant":
        messages = messages[:-1]
    return messages


def with_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """Return a JSON value with each text in it changed."""
    if isinstance(value, list):
        return [with_texts(one, change) for one in value]
    if isinstance(value, Mapping):
        return {name: with_texts(one, change) for name, one in value.items()}
    return change(value) if isinstance(value, str) else value


def key_of(*parts: Any) -> str:
    """Return a short key by content, the same each time that the file is read."""
    return digest(list(parts))[:16]


def references_of(value: Any) -> str:
    """Return one reference answer, or a list of accepted ones as text."""
    items = [as_text(one) for one in as_list(value)]
    if len(items) < 2:
        return items[0] if items else ""
    return "Any of these:\n" + "\n".join(f"- {item}" for item in items)
