"""Checks with regular expressions."""

from typing import Self

from pydantic import Field, model_validator

from issues.checks.check import Cased, Compared, Finding, family, yes_or_no
from issues.checks.coverage import all_of, enough_of
from issues.checks.javascript_regex import Pattern, compiled, search
from issues.checks.quoting import quoted
from issues.checks.subject import Material
from issues.checks.time_limit import Deadline

check = family("Pattern")

DIALECT = "A regular expression, as in JavaScript."


class OnePattern(Cased):
    pattern: Pattern = Field(title="Pattern", description=DIALECT)


MAX_PATTERNS = 100


class ManyPatterns(Cased):
    patterns: list[Pattern] = Field(
        max_length=MAX_PATTERNS, title="Patterns", description="Regular expressions."
    )


class EnoughPatterns(ManyPatterns):
    least: int = Field(title="At least", description="Minimum number of them.")


class Capture(OnePattern, Compared):
    text: str = Field(title="Text", description="Content of the group, no more and no less.")
    group: int | str | None = Field(
        None,
        title="Group",
        description=(
            "Number or name of the group. Default: the first group, or the whole match "
            "without groups."
        ),
    )

    @model_validator(mode="after")
    def _has_group(self) -> Self:
        """Refuse a group missing from the pattern."""
        groups = compiled(self.pattern)
        if isinstance(self.group, str) and self.group not in groups.groupindex:
            raise ValueError(f"The pattern has no group named {quoted(self.group)}.")
        if isinstance(self.group, int) and not 0 <= self.group <= groups.groups:
            raise ValueError(f"The pattern has {groups.groups} groups, so no group {self.group}.")
        return self


@check("Matches", OnePattern)
def matches(arguments: OnePattern, material: Material) -> Finding:
    """The pattern occurs anywhere in the answer."""
    found = search(arguments.pattern, material.text, Deadline(), ignore_case=arguments.ignore_case)
    seen = quoted(found.group()) if found else ""
    return yes_or_no(bool(found), f"Found {seen}.", f"No match for {quoted(arguments.pattern)}.")


@check("Matches all of", ManyPatterns)
def matches_all(arguments: ManyPatterns, material: Material) -> Finding:
    """The share of these patterns that occur; 1 for an empty list."""
    return all_of(_found(arguments, material), arguments.patterns, "Found")


@check("Matches at least n of", EnoughPatterns)
def matches_at_least(arguments: EnoughPatterns, material: Material) -> Finding:
    """At least this many of these patterns occur; fewer score proportionally."""
    found = _found(arguments, material)
    return enough_of(found, arguments.patterns, "Found", least=arguments.least)


@check("Captures", Capture)
def captures(arguments: Capture, material: Material) -> Finding:
    """A group of the pattern's first match contains this text and no more."""
    group = arguments.group
    found = search(arguments.pattern, material.text, Deadline(), ignore_case=arguments.ignore_case)
    if not found:
        return Finding(0.0, f"No match for {quoted(arguments.pattern)}.")
    held: str = found.group(min(1, found.re.groups) if group is None else group) or ""
    is_shown = arguments.form(held) == arguments.form(arguments.text)
    no = f"The group contains {quoted(held)}, not {quoted(arguments.text)}."
    return yes_or_no(is_shown, f"The group contains {quoted(held)}.", no)


def _found(arguments: ManyPatterns, material: Material) -> list[str]:
    """Return the patterns that occur, all within one time limit."""
    deadline, ignore_case = Deadline(), arguments.ignore_case
    return [
        pattern
        for pattern in arguments.patterns
        if search(pattern, material.text, deadline, ignore_case=ignore_case)
    ]
