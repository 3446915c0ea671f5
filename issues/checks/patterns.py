"""Checks with regular expressions."""

from typing import Any, Self

from pydantic import Field, model_validator

from issues.checks.check import Cased, Check, Finding, family, yes_or_no
from issues.checks.coverage import all_of, enough_of
from issues.checks.javascript_regex import Pattern, compiled, search
from issues.checks.quoting import quoted
from issues.checks.subject import Material
from issues.checks.time_limit import Deadline

check = family("Pattern")

DIALECT = "A regular expression, as in JavaScript."


class OnePattern(Cased):
    pattern: Pattern = Field(title="Pattern", description=DIALECT)


MOST_PATTERNS = 100


class ManyPatterns(Cased):
    patterns: list[Pattern] = Field(
        max_length=MOST_PATTERNS, title="Patterns", description="Regular expressions."
    )


class EnoughPatterns(ManyPatterns):
    least: int = Field(title="At least", description="How many of them are enough.")


class Capture(OnePattern):
    text: str = Field(title="Text", description="What the group is to hold, exactly.")
    group: int | str | None = Field(
        None,
        title="Group",
        description="Its number or name; the first if not given, without groups the whole match.",
    )

    @model_validator(mode="after")
    def _has_group(self) -> Self:
        """Refuse a group that the pattern does not have."""
        groups = compiled(self.pattern)
        if isinstance(self.group, str) and self.group not in groups.groupindex:
            raise ValueError(f"The pattern has no group named {quoted(self.group)}.")
        if isinstance(self.group, int) and not 0 <= self.group <= groups.groups:
            raise ValueError(f"The pattern has {groups.groups} groups, so no group {self.group}.")
        return self


@check("Matches", OnePattern)
def matches(arguments: OnePattern, material: Material) -> Finding:
    """The pattern is found anywhere in the answer."""
    found = search(arguments.pattern, material.text, Deadline(), ignore_case=arguments.ignore_case)
    seen = quoted(found.group()) if found else ""
    return yes_or_no(
        bool(found), f"Found {seen}.", f"Found nothing like {quoted(arguments.pattern)}."
    )


@check("Matches all of", ManyPatterns)
def matches_all(arguments: ManyPatterns, material: Material) -> Finding:
    """The share of these patterns that are found. Of no patterns all are."""
    return all_of(_found(arguments, material), arguments.patterns, "Found")


@check("Matches at least so many of", EnoughPatterns)
def matches_at_least(arguments: EnoughPatterns, material: Material) -> Finding:
    """So many of these patterns are found; fewer count in proportion."""
    found = _found(arguments, material)
    return enough_of(found, arguments.patterns, "Found", least=arguments.least)


@check("Captures", Capture)
def captures(arguments: Capture, material: Material) -> Finding:
    """A group of the pattern, in its first match, holds exactly this text."""
    ignore_case = arguments.ignore_case
    found = search(arguments.pattern, material.text, Deadline(), ignore_case=ignore_case)
    if not found:
        return Finding(0.0, f"Found nothing like {quoted(arguments.pattern)}.")
    held = found.group(_group(arguments)) or ""
    sides = (held, arguments.text)
    left, right = map(str.lower, sides) if ignore_case else sides
    no = f"The group holds {quoted(held)}, not {quoted(arguments.text)}."
    return yes_or_no(left == right, f"The group holds {quoted(held)}.", no)


def _group(arguments: Capture) -> Any:
    if arguments.group is not None:
        return arguments.group
    return min(1, compiled(arguments.pattern).groups)


def _found(arguments: ManyPatterns, material: Material) -> list[str]:
    """Those of the patterns that are found, all within one time limit."""
    deadline, ignore_case = Deadline(), arguments.ignore_case
    return [
        pattern
        for pattern in arguments.patterns
        if search(pattern, material.text, deadline, ignore_case=ignore_case)
    ]


CHECKS: tuple[Check, ...] = (matches, matches_all, matches_at_least, captures)
