"""What a check is: a name, the arguments that it takes, and a function from an answer to a value.

A check is deterministic: no model is asked. It gives a value in [0, 1], how far the answer shows
what it looks for, or says in words why it gives none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from issues.checks.subject import Material


class CheckError(Exception):
    """Why a check gives no value, in words for the people who read the result."""


class Finding(NamedTuple):
    """A value in [0, 1] and what was seen."""

    value: float
    explanation: str


@dataclass(frozen=True)
class Outcome:
    """What came of a check.

    `value`, in [0, 1], is how far the answer shows it; None where it could not be measured, and
    only then does `error` say why.
    """

    value: float | None = None
    explanation: str = ""
    error: str = ""


class Arguments(BaseModel):
    """What every check takes. Values are never converted: the text "5" is not the number 5."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    negate: bool = Field(False, title="Negate", description="The opposite counts: 1 − value.")


class Cased(Arguments):
    ignore_case: bool = Field(False, title="Ignore case", description="A and a are the same.")


Measure = Callable[[Any, Material], Finding]


@dataclass(frozen=True)
class Check:
    """One check. `reason` says why it cannot run here; empty where it can."""

    name: str
    title: str
    family: str
    description: str
    takes: type[Arguments]
    measure: Measure
    reason: str = ""

    @property
    def can_run(self) -> bool:
        return not self.reason

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """A JSON Schema of the arguments, from which a form can be built: its own come first."""
        schema = self.takes.model_json_schema()
        common = [name for name in ("ignore_case", "negate") if name in schema["properties"]]
        own = [name for name in schema["properties"] if name not in common]
        properties = {name: schema["properties"][name] for name in [*own, *common]}
        described = {"title": self.title, "description": self.description}
        return {**schema, **described, "properties": properties}


Register = Callable[[str, type[Arguments]], Callable[[Measure], Check]]


def family(title: str, *, reason: str = "") -> Register:
    """A decorator for the checks of one family.

    The name of a check is its function's and the description its docstring. `reason` says why
    none of the family can run here.
    """

    def register(check_title: str, takes: type[Arguments]) -> Callable[[Measure], Check]:
        def check_of(measure: Measure) -> Check:
            description = " ".join((measure.__doc__ or "").split())
            name = measure.__name__
            return Check(name, check_title, title, description, takes, measure, reason)

        return check_of

    return register


def yes_or_no(is_shown: bool, yes: str, no: str) -> Finding:
    """A finding of 1 or 0."""
    return Finding(1.0, yes) if is_shown else Finding(0.0, no)
