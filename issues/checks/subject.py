"""Input of checks: the generated content of a result, with time and cost."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

BETWEEN_TURNS = "\n\n"
MARK = "TOOL_CALL "
"""Prefix of a line in which a model without tools spells out a call."""


class ToolCall(NamedTuple):
    name: str
    arguments: Any


@dataclass(frozen=True)
class Material:
    """An answer as checks see it.

    `text` is all generated turns. `tool_calls` are as a provider returns them, or each with a name
    and arguments. `latency_ms` and `cost_usd`, in US dollars, are None if not measured.
    """

    text: str
    tool_calls: Sequence[Mapping[str, Any]] = ()
    latency_ms: int | None = None
    cost_usd: float | Decimal | None = None

    @cached_property
    def calls(self) -> list[ToolCall]:
        """Return the real tool calls in order, then those spelled out in the text."""
        return [*_real_calls(self.tool_calls), *_spelt_calls(self.text)]


def text_of(turns: Iterable[str]) -> str:
    """Return the text of all generated turns, joined by a blank line."""
    return BETWEEN_TURNS.join(turns)


def _real_calls(calls: Iterable[Any]) -> Iterator[ToolCall]:
    for call in calls:
        if isinstance(call, Mapping):
            yield from _call(call.get("function", call))


def _spelt_calls(text: str) -> Iterator[ToolCall]:
    """Return calls in lines such as `TOOL_CALL {"name": "add", "arguments": {}}`."""
    for line in map(str.strip, text.split("\n")):
        if line.startswith(MARK):
            yield from _call(_read(line.removeprefix(MARK)))


def _call(value: Any) -> Iterator[ToolCall]:
    if isinstance(value, Mapping) and isinstance(value.get("name"), str):
        yield ToolCall(value["name"], _read(value.get("arguments")))


def _read(value: Any) -> Any:
    """Parse a JSON text; return anything else unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
