"""Scales: a judge's options, their values, and the pass rule. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Any

from evalhub.llm.verdicts.option_matching import folded, number_in

DIGITS = 9


class PassRule(StrEnum):
    """Pass rule: above the threshold only (strict), or also at it (inclusive)."""

    STRICT = "strict"
    INCLUSIVE = "inclusive"


class ScaleError(ValueError):
    """An invalid scale; `problems` lists every reason."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = list(problems)


@dataclass(frozen=True)
class Option:
    """An option of a judge: its label, when it applies, its value in [0, 1]."""

    label: str
    description: str
    value: float


@dataclass(frozen=True)
class Scale:
    """Options in the order judges read them, and the pass rule.

    Raises:
        ScaleError: Fewer than two options, labels that look the same, values or threshold outside
            [0, 1], or a threshold that every option or none passes.
    """

    options: tuple[Option, ...]
    threshold: float = 0.5
    rule: PassRule = PassRule.STRICT

    def __post_init__(self) -> None:
        if problems := [*_option_problems(self.options), *self._threshold_problems()]:
            raise ScaleError(problems)

    def _threshold_problems(self) -> list[str]:
        if not 0 <= self.threshold <= 1:
            return [f"The pass threshold {self.threshold} is not between 0 and 1."]
        verdicts = {self.passes(option.value) for option in self.options}
        if len(verdicts) > 1 or len(self.options) < 2:
            return []
        return [
            f"With the threshold {self.threshold} ({self.rule}) every option "
            f"{'passes' if True in verdicts else 'fails'}. Choose another threshold."
        ]

    @property
    def ends(self) -> tuple[float, float]:
        """Its lowest and its highest value."""
        values = [option.value for option in self.options]
        return min(values), max(values)

    def passes(self, score: float | None) -> bool | None:
        """Return True if a score passes by this scale's rule; None without a score."""
        return passes(score, self.threshold, self.rule)

    def option_of(self, reply: object) -> Option | None:
        """Return the option that a judge's reply names; None if it names none: nothing is guessed.

        A reply is a label (ignoring case, spaces, "-" and "_") or a number. A number is matched
        with numeric labels first; only on a scale without them may it be an option's value, so that
        on a scale from 1 to 7 a reply of 1 is the lowest option, not the best.
        """
        wanted = folded(reply)
        if wanted is None:
            return None
        if option := next((o for o in self.options if folded(o.label) == wanted), None):
            return option
        number = number_in(wanted)
        if number is None or any(number_in(option.label) is not None for option in self.options):
            return None
        return self.option_worth(number)

    def option_worth(self, value: float) -> Option | None:
        """Return the only option with this value; None if there is none, or several."""
        found = [o for o in self.options if round(o.value - value, DIGITS) == 0]
        return found[0] if len(found) == 1 else None

    def as_text(self) -> str:
        """Return the options as judges read them, one per line."""
        return "\n".join(
            f"- {option.label}: {option.description}" if option.description else f"- {option.label}"
            for option in self.options
        )


def passes(score: float | None, threshold: float, rule: PassRule | str) -> bool | None:
    """Return True if a score passes; None without a score.

    Both sides are rounded to nine digits first, so that a mean such as 0.1 + 0.2 equals 0.3.
    """
    if score is None:
        return None
    distance = round(score - threshold, DIGITS)
    return distance > 0 if PassRule(rule) is PassRule.STRICT else distance >= 0


def as_json(scale: Scale) -> dict[str, Any]:
    """Return the scale as JSON for a template's column: options, threshold and rule."""
    options = [
        {"label": o.label, "description": o.description, "value": o.value} for o in scale.options
    ]
    return {"options": options, "threshold": scale.threshold, "rule": scale.rule.value}


def from_json(data: object) -> Scale:
    """Parse a scale from JSON.

    Raises:
        ScaleError: Lists every problem.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("options"), list):
        raise ScaleError(['A scale is an object with "options", "threshold" and "rule".'])
    unknown = sorted(set(data) - {"options", "threshold", "rule"})
    problems = [f"A scale has no {name!r}: use options, threshold and rule." for name in unknown]
    problems += [
        problem
        for number, option in enumerate(data["options"], 1)
        for problem in _shape_problems(number, option)
    ]
    threshold, rule = data.get("threshold", 0.5), data.get("rule", PassRule.STRICT)
    if not _is_number(threshold):
        problems.append(f"The pass threshold {threshold!r} is not a number.")
    if rule not in list(PassRule):
        problems.append(f"The pass rule {rule!r} is not one of {', '.join(PassRule)}.")
    if problems:
        raise ScaleError(problems)
    return Scale(tuple(_option(o) for o in data["options"]), float(threshold), PassRule(rule))


def problems_of(data: object) -> list[str]:
    """List the problems of a scale in JSON; empty if it is valid."""
    try:
        from_json(data)
    except ScaleError as error:
        return error.problems
    return []


def _option(data: Mapping[str, Any]) -> Option:
    return Option(data["label"].strip(), data.get("description", "").strip(), float(data["value"]))


def _shape_problems(number: int, data: object) -> list[str]:
    if not isinstance(data, Mapping):
        return [f"Option {number} is not an object with label, description and value: {data!r}."]
    problems = []
    if not isinstance(data.get("label"), str):
        problems.append(f"Option {number}: the label {data.get('label')!r} is not a text.")
    if not isinstance(data.get("description", ""), str):
        problems.append(f"Option {number}: the description is not a text.")
    if not _is_number(data.get("value")):
        problems.append(f"Option {number}: the value {data.get('value')!r} is not a number.")
    return problems


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _option_problems(options: Sequence[Option]) -> list[str]:
    problems = (
        [] if len(options) >= 2 else [f"A scale needs at least two options, not {len(options)}."]
    )
    first_with: dict[str | None, str] = {}
    for number, option in enumerate(options, 1):
        label = folded(option.label)
        if label is None:
            problems.append(f"Option {number} needs a label.")
        elif label in first_with:
            problems.append(f"Two options are called {option.label!r} and {first_with[label]!r}.")
        first_with.setdefault(label, option.label)
        if not 0 <= option.value <= 1:
            problems.append(f"{option.label!r} has the value {option.value}, not one in 0 to 1.")
    return problems


BINARY = Scale(
    (
        Option("0", "The output fails: at least one point is not met.", 0.0),
        Option("1", "The output passes: every point is met.", 1.0),
    )
)

FIVE_CLASSES = Scale(
    (
        Option("UNMET", "The text does not show this at all.", 0.0),
        Option("PARTIALLY_MET", "The text shows a small part of this.", 0.25),
        Option("MODERATELY_MET", "The text shows about half of this.", 0.5),
        Option("MOSTLY_MET", "The text shows most of this.", 0.75),
        Option("FULLY_MET", "The text shows all of this.", 1.0),
    )
)

ONE_TO_SEVEN = Scale(
    (
        Option("1", "The text shows nothing of this.", 0.0),
        Option("2", "The text shows hardly anything of this.", 1 / 6),
        Option("3", "The text shows less than half of this.", 2 / 6),
        Option("4", "The text shows about half of this.", 3 / 6),
        Option("5", "The text shows more than half of this.", 4 / 6),
        Option("6", "The text shows nearly all of this.", 5 / 6),
        Option("7", "The text shows all of this.", 1.0),
    ),
    threshold=3 / 6,
    rule=PassRule.INCLUSIVE,
)
"""Passed from 4 up, the middle of the scale."""


def binary_json() -> dict[str, Any]:
    """Return a new copy of the binary scale, for a JSON column's default."""
    return as_json(BINARY)
