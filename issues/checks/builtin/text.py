"""Checks for texts that the answer contains, begins or ends with."""

from typing import Annotated

import regex
from pydantic import Field

from issues.checks.check import Compared, Finding, family, yes_or_no
from issues.checks.coverage import all_of, enough_of
from issues.checks.javascript_regex import LONGEST, literal, search_compiled
from issues.checks.quoting import quoted, quoted_all
from issues.checks.subject import Material
from issues.checks.time_limit import Deadline

check = family("Text")

MAX_TEXTS = 1_000

Texts = Annotated[
    list[str], Field(max_length=MAX_TEXTS, title="Texts", description="Texts to look for.")
]


class OneText(Compared):
    text: str = Field(title="Text", description="Spaces count.")


class Word(Compared):
    text: str = Field(max_length=LONGEST, title="Text", description="A word or a phrase.")


class ManyTexts(Compared):
    texts: Texts


class EnoughTexts(ManyTexts):
    least: int = Field(title="At least", description="Minimum number of them.")


@check("Contains", OneText)
def contains(arguments: OneText, material: Material) -> Finding:
    """The answer contains this text."""
    is_shown = arguments.form(arguments.text) in arguments.form(material.text)
    return _told(is_shown, "Contains", "Does not contain", arguments.text)


@check("Contains any of", ManyTexts)
def contains_any(arguments: ManyTexts, material: Material) -> Finding:
    """The answer contains at least one of these texts. Fails for an empty list."""
    held = _held(arguments, material)
    if not arguments.texts:
        return Finding(0.0, "The list is empty.")
    none = f"Contains none of {quoted_all(arguments.texts)}."
    return yes_or_no(bool(held), f"Contains {quoted_all(held)}.", none)


@check("Contains all of", ManyTexts)
def contains_all(arguments: ManyTexts, material: Material) -> Finding:
    """The share of these texts that the answer contains; 1 for an empty list."""
    return all_of(_held(arguments, material), arguments.texts, "Contains")


@check("Contains at least n of", EnoughTexts)
def contains_at_least(arguments: EnoughTexts, material: Material) -> Finding:
    """The answer contains at least this many of these texts; fewer score proportionally."""
    held = _held(arguments, material)
    return enough_of(held, arguments.texts, "Contains", least=arguments.least)


@check("Contains the word", Word)
def contains_word(arguments: Word, material: Material) -> Finding:
    """The answer contains this text without a letter, digit or underscore next to it."""
    wanted, given = arguments.form(arguments.text), arguments.form(material.text)
    word = regex.compile(rf"(?<![\p{{L}}\p{{N}}_]){literal(wanted)}(?![\p{{L}}\p{{N}}_])")
    is_shown = not wanted or bool(search_compiled(word, given, Deadline()))
    return _told(is_shown, "Contains the word", "Does not contain the word", arguments.text)


@check("Starts with", OneText)
def starts_with(arguments: OneText, material: Material) -> Finding:
    """The answer begins with this text; leading white space counts."""
    is_shown = arguments.form(material.text).startswith(arguments.form(arguments.text))
    return _told(is_shown, "Begins with", "Does not begin with", arguments.text)


@check("Ends with", OneText)
def ends_with(arguments: OneText, material: Material) -> Finding:
    """The answer ends with this text; trailing white space counts."""
    is_shown = arguments.form(material.text).endswith(arguments.form(arguments.text))
    return _told(is_shown, "Ends with", "Does not end with", arguments.text)


@check("Equals", OneText)
def equals(arguments: OneText, material: Material) -> Finding:
    """The answer is this text and no more; outer white space is ignored."""
    wanted = arguments.form(arguments.text).strip()
    is_shown = arguments.form(material.text).strip() == wanted
    return _told(is_shown, "Is", "Is not", arguments.text.strip())


def _told(is_shown: bool, yes: str, no: str, text: str) -> Finding:
    return yes_or_no(is_shown, f"{yes} {quoted(text)}.", f"{no} {quoted(text)}.")


def _held(arguments: ManyTexts, material: Material) -> list[str]:
    text = arguments.form(material.text)
    return [wanted for wanted in arguments.texts if arguments.form(wanted) in text]
