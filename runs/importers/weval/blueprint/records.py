"""Contents of a blueprint in one normalized form. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from issues.rubrics.criterion_content import CriterionContent

APPROACHES = {"standard": "standard", "prompt-aware": "prompt_aware", "holistic": "holistic"}
"""Weval's names → our approaches."""

DEFAULT_MODELS = ("CORE",)
"""Collection of a blueprint that names no models."""

Json = dict[str, Any]
Point = CriterionContent
"""Weval's name of a criterion."""


@dataclass(frozen=True)
class Prompt:
    """A test. Messages are as in `issues.content.conversation`, its own system prompt first.

    `extras` are fields that have no place here, under Weval's names; `own` those of ours that
    Weval does not know.
    """

    id: str
    messages: list[Json]
    description: str = ""
    reference: str = ""
    weight: float = 1
    points: tuple[Point, ...] = ()
    extras: Json = field(default_factory=dict)
    own: Json = field(default_factory=dict)


class NamedJudge(NamedTuple):
    """A judge: Weval's name of the model, and one of our approaches."""

    model: str
    approach: str


@dataclass(frozen=True)
class Blueprint:
    """A blueprint.

    `tags` are sorted. `models` are ids, names of collections, or objects that describe a model.
    `systems` are the system prompts to try, None for none; () if there is none at all.
    `temperatures` () leaves them to the models. `judges` () means the default ones.
    """

    id: str
    title: str
    description: str = ""
    tags: tuple[str, ...] = ()
    models: tuple[str | Json, ...] = DEFAULT_MODELS
    systems: tuple[str | None, ...] = ()
    temperatures: tuple[float, ...] = ()
    judges: tuple[NamedJudge, ...] = ()
    tools: tuple[Json, ...] = ()
    extras: Json = field(default_factory=dict)
    prompts: tuple[Prompt, ...] = ()


class Finding(NamedTuple):
    """A remark on one place, of a prompt or ("") the file. `more` counts its repetitions."""

    file: str
    message: str
    line: int | None = None
    prompt: str = ""
    more: int = 0

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        where = f"{place}: {self.prompt}" if self.prompt else place
        more = f" (and {self.more} more)" if self.more else ""
        return f"{where}: {self.message}{more}"


class Source(NamedTuple):
    """A file to read; `id` identifies its blueprint."""

    file: str
    id: str
    text: str


@dataclass(frozen=True)
class Reading:
    """The reading of a file. Load it only if there are no problems.

    `warnings` name what is wrong but was read in the only sensible way, and how. `notes` name what
    was read but cannot be represented or run here.
    """

    file: str
    blueprint: Blueprint | None
    problems: list[Finding]
    warnings: list[Finding]
    notes: list[Finding]


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    """Return distinct findings by line, those of the whole file first."""
    return sorted(dict.fromkeys(findings), key=lambda found: found.line or 0)


def plain_number(number: float) -> float:
    """Return the number as an int if it is whole, to be written without a point."""
    return int(number) if number == int(number) else number
