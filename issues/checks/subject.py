"""What a check looks at: what was generated for one result, and what it took."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

BETWEEN_TURNS = "\n\n"
MARK = "TOOL_CALL "
"""Begins a line of text in which a model without tools says which one it would call."""


class ToolCall(NamedTuple):
    name: str
    arguments: Any


@dataclass(frozen=True)
class Material:
    """One answer as checks see it.

    `text` is all generated turns. `tool_calls` are as a provider gives them, or each with a name
    and arguments. `latency_ms` and `cost_usd`, in US dollars, are None where not measured.
    """

    text: str
    tool_calls: Sequence[Mapping[str, Any]] = ()
    latency_ms: int | None = None
    cost_usd: float | Decimal | None = None

    @cached_property
    def calls(self) -> list[ToolCall]:
        """The real tool calls in their order, then those that the text spells out."""
        return [*_real_calls(self.tool_calls), *_spelt_calls(self.text)]


def text_of(turns: Iterable[str]) -> str:
    """The text of all generated turns, with a blank line between."""
    return BETWEEN_TURNS.join(turns)


def _real_calls(calls: Iterable[Any]) -> Iterator[ToolCall]:
    for call in calls:
        if isinstance(call, Mapping):
            yield from _call(call.get("function", call))


def _spelt_calls(text: str) -> Iterator[ToolCall]:
    """Those of lines such as `TOOL_CALL {"name": "add", "arguments": {}}`; others are text."""
    for line in map(str.strip, text.split("\n")):
        if line.startswith(MARK):
            yield from _call(_read(line.removeprefix(MARK)))


def _call(value: Any) -> Iterator[ToolCall]:
    if isinstance(value, Mapping) and isinstance(value.get("name"), str):
        yield ToolCall(value["name"], _read(value.get("arguments")))


def _read(value: Any) -> Any:
    """What JSON text stands for; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
