"""The settings of a batch of drafts. Pure."""

import json
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from evalhub.llm.verdicts.option_matching import folded
from issues.limits import LATER_BATCH
from issues.rubrics import scales
from issues.rubrics.scales import PassRule, Scale

MAX_VARIABLES = 5

Line = Annotated[str, StringConstraints(strip_whitespace=True, max_length=120)]
Paragraph = Annotated[str, StringConstraints(strip_whitespace=True, max_length=4000)]


class Task(StrEnum):
    GENERIC = "generic"
    SUMMARISATION = "summarisation"
    QUESTION_ANSWERING = "question_answering"
    TEXT_GENERATION = "text_generation"


VARIABLE_OF = {
    Task.GENERIC: "Prompt",
    Task.SUMMARISATION: "Text",
    Task.QUESTION_ANSWERING: "Question",
    Task.TEXT_GENERATION: "Instruction",
}
"""Name of the input that a task has unless it is given others."""


class Length(StrEnum):
    ANY = ""
    SHORT = "short"
    MEDIUM = "medium"
    LONG = "long"


SENTENCES = {Length.SHORT: "1-2", Length.MEDIUM: "3-5", Length.LONG: "5-9"}
MAX_CHARACTERS = {Length.ANY: 1500, Length.SHORT: 500, Length.MEDIUM: 1200, Length.LONG: 2400}
"""Of an answer."""


class DraftedOption(BaseModel):
    """An option of the criterion, and how many drafts shall show it. `value` is in [0, 1]."""

    model_config = ConfigDict(extra="forbid")

    label: Annotated[Line, StringConstraints(min_length=1, max_length=60)]
    description: Paragraph = ""
    value: float = Field(ge=0, le=1)
    quantity: int = Field(0, ge=0, le=LATER_BATCH)


class DraftingSettings(BaseModel):
    """Order of a batch: a criterion with its options, the kind of text, and how many of each.

    `pairs` are pairs of answers, of which the one for the best option shall win. `template` is the
    judge template that accepted tests take; None: that of another test of the issue.
    """

    model_config = ConfigDict(extra="forbid")

    task: Task = Task.GENERIC
    criterion: Annotated[Line, StringConstraints(min_length=1)]
    description: Paragraph = ""
    options: list[DraftedOption]
    threshold: float = 0.5
    rule: PassRule = PassRule.STRICT
    borderline: int = Field(0, ge=0, le=LATER_BATCH)
    pairs: int = Field(0, ge=0, le=LATER_BATCH)
    variables: list[Line] = Field([], max_length=MAX_VARIABLES)
    answer_name: Line = "Answer"
    domain: Line = ""
    persona: Line = ""
    length: Length = Length.ANY
    style: Line = ""
    sentiment: Line = ""
    noise: Line = ""
    out_of_domain: bool = False
    partial_match: bool = False
    template: int | None = None

    @model_validator(mode="after")
    def fits_together(self) -> Self:
        problems = scales.problems_of(self.scale_json())
        if not self.total:
            problems.append(
                "All quantities are 0: ask for at least one draft of an option, a borderline one "
                "or a pair."
            )
        names = [*self.variables, self.answer_name]
        if len({folded(name) for name in names}) < len(names):
            problems.append(f"Two fields have the same name: {', '.join(names)}.")
        if "" in names:
            problems.append("A field has no name.")
        if self.task is not Task.GENERIC and len(self.variables) > 1:
            problems.append(f"This task has one input, not {len(self.variables)}.")
        if problems:
            raise ValueError(" ".join(problems))
        return self

    def scale_json(self) -> dict[str, Any]:
        options = [option.model_dump(exclude={"quantity"}) for option in self.options]
        return {"options": options, "threshold": self.threshold, "rule": self.rule}

    @property
    def scale(self) -> Scale:
        return scales.from_json(self.scale_json())

    @property
    def total(self) -> int:
        return sum(o.quantity for o in self.options) + self.borderline + self.pairs

    @property
    def inputs(self) -> list[str]:
        """Return the names of the input's fields."""
        return self.variables or [VARIABLE_OF[self.task]]

    @property
    def best(self) -> DraftedOption:
        return max(self.options, key=lambda option: option.value)

    @property
    def worst(self) -> DraftedOption:
        return min(self.options, key=lambda option: option.value)


class Persona(NamedTuple):
    domain: str
    name: str


@cache
def built_in_personas() -> tuple[Persona, ...]:
    """Return the personas of each domain that come with EvalHub."""
    table = json.loads((Path(__file__).parent / "personas.json").read_text(encoding="utf-8"))
    return tuple(Persona(domain, name) for domain, names in table.items() for name in names)
