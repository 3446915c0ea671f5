"""Deterministic checks: criteria that are decided without a model."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Material:
    text: str
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    latency_ms: int | None = None
    cost_usd: float | None = None


class Outcome(NamedTuple):
    value: float | None
    explanation: str = ""
    error: str = ""


CHECKS: dict[str, Any] = {}


def run(name: str, arguments: dict[str, Any], material: Material) -> Outcome:
    if name == "contains":
        found = arguments["text"] in material.text
        return Outcome(float(found), "found" if found else "not found")
    return Outcome(None, "", f"There is no check {name!r}.")


def problems_of(name: str, arguments: Any) -> list[str]:
    return []
