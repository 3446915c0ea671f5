"""Definition of a check: a name, its arguments, and a function from an answer to a value.

A check is deterministic: no model is asked. It returns a value in [0, 1], how far the answer shows
the property, or the reason why there is none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from issues.checks.normal_form import normal_form
from issues.checks.subject import Material


class CheckError(Exception):
    """Reason why a check has no value, for readers of the result."""


class CannotTell(CheckError):
    """The reason lies in the answer, of which the check would always say the same."""


class Finding(NamedTuple):
    """A value in [0, 1] and an explanation."""

    value: float
    explanation: str


@dataclass(frozen=True)
class Outcome:
    """Outcome of a check.

    `value`, in [0, 1], is how far the answer shows the property; None if it could not be measured,
    and only then does `error` hold the reason. `is_final`: another try would say the same.
    """

    value: float | None = None
    explanation: str = ""
    error: str = ""
    is_final: bool = False


class Arguments(BaseModel):
    """Arguments of every check. Values are never converted: the text "5" is not the number 5."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    negate: bool = Field(False, title="Negate", description="Inverts the value: 1 − value.")


class Cased(Arguments):
    ignore_case: bool = Field(False, title="Ignore case", description="Treats A and a as equal.")


class Compared(Cased):
    """Arguments of checks that compare texts, which they do in `form`."""

    exact: bool = Field(
        False,
        title="Exactly",
        description="Tells apart spaces, quotes, hyphens and accented letters that look the same.",
    )

    def form(self, text: str) -> str:
        form = text if self.exact else normal_form(text)
        return form.lower() if self.ignore_case else form


Measure = Callable[[Any, Material], Finding]


@dataclass(frozen=True)
class Check:
    """A check. `reason` says why it cannot run here; empty if it can."""

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
        """Return the JSON Schema of the arguments, its own first, to build a form from."""
        schema = self.takes.model_json_schema()
        common = [
            name for name in ("exact", "ignore_case", "negate") if name in schema["properties"]
        ]
        own = [name for name in schema["properties"] if name not in common]
        properties = {name: schema["properties"][name] for name in [*own, *common]}
        described = {"title": self.title, "description": self.description}
        return {**schema, **described, "properties": properties}


Register = Callable[[str, type[Arguments]], Callable[[Measure], Check]]


def family(title: str, *, reason: str = "") -> Register:
    """Return a decorator for the checks of one family.

    A check is named like its function and described by its docstring. `reason` says why none of the
    family can run here.
    """

    def register(check_title: str, takes: type[Arguments]) -> Callable[[Measure], Check]:
        def check_of(measure: Measure) -> Check:
            description = " ".join((measure.__doc__ or "").split())
            name = measure.__name__
            return Check(name, check_title, title, description, takes, measure, reason)

        return check_of

    return register


def yes_or_no(is_shown: bool, yes: str, no: str) -> Finding:
    """Return a finding of 1 or 0."""
    return Finding(1.0, yes) if is_shown else Finding(0.0, no)
