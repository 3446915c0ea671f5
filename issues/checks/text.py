"""Checks for texts that the answer holds, begins or ends with."""

from typing import Annotated

import regex
from pydantic import Field

from issues.checks.check import Cased, Check, Finding, family, yes_or_no
from issues.checks.coverage import all_of, enough_of
from issues.checks.javascript_regex import LONGEST, literal, search_compiled
from issues.checks.quoting import quoted, quoted_all
from issues.checks.subject import Material
from issues.checks.time_limit import Deadline

check = family("Text")

MOST_TEXTS = 1_000

Texts = Annotated[
    list[str], Field(max_length=MOST_TEXTS, title="Texts", description="One or more texts.")
]


class OneText(Cased):
    text: str = Field(title="Text", description="Compared as it stands, with its spaces.")


class Word(Cased):
    text: str = Field(max_length=LONGEST, title="Text", description="One word, or several.")


class ManyTexts(Cased):
    texts: Texts


class EnoughTexts(ManyTexts):
    least: int = Field(title="At least", description="How many of them are enough.")


@check("Contains", OneText)
def contains(arguments: OneText, material: Material) -> Finding:
    """The answer holds this text."""
    is_shown = _folded(arguments.text, arguments) in _folded(material.text, arguments)
    text = quoted(arguments.text)
    return yes_or_no(is_shown, f"Holds {text}.", f"Does not hold {text}.")


@check("Contains any of", ManyTexts)
def contains_any(arguments: ManyTexts, material: Material) -> Finding:
    """The answer holds at least one of these texts. Of no texts it holds none."""
    held = _held(arguments, material)
    none = f"Holds none of {quoted_all(arguments.texts)}." if arguments.texts else "None are asked."
    return yes_or_no(bool(held), f"Holds {quoted_all(held)}.", none)


@check("Contains all of", ManyTexts)
def contains_all(arguments: ManyTexts, material: Material) -> Finding:
    """The share of these texts that the answer holds. Of no texts it holds all."""
    return all_of(_held(arguments, material), arguments.texts, "Holds")


@check("Contains at least so many of", EnoughTexts)
def contains_at_least(arguments: EnoughTexts, material: Material) -> Finding:
    """The answer holds so many of these texts; fewer count in proportion."""
    held = _held(arguments, material)
    return enough_of(held, arguments.texts, "Holds", least=arguments.least)


@check("Contains the word", Word)
def contains_word(arguments: Word, material: Material) -> Finding:
    """The answer holds this text with no letter, digit or underscore of any script beside it."""
    flags = regex.IGNORECASE if arguments.ignore_case else 0
    word = regex.compile(
        rf"(?<![\p{{L}}\p{{N}}_]){literal(arguments.text)}(?![\p{{L}}\p{{N}}_])", flags
    )
    is_shown = not arguments.text or bool(search_compiled(word, material.text, Deadline()))
    text = quoted(arguments.text)
    return yes_or_no(is_shown, f"Holds the word {text}.", f"Does not hold the word {text}.")


@check("Starts with", OneText)
def starts_with(arguments: OneText, material: Material) -> Finding:
    """The answer begins with this text; white space before it counts."""
    start = _folded(arguments.text, arguments)
    is_shown = _folded(material.text, arguments).startswith(start)
    text = quoted(arguments.text)
    return yes_or_no(is_shown, f"Begins with {text}.", f"Does not begin with {text}.")


@check("Ends with", OneText)
def ends_with(arguments: OneText, material: Material) -> Finding:
    """The answer ends with this text; white space after it counts."""
    end = _folded(arguments.text, arguments)
    is_shown = _folded(material.text, arguments).endswith(end)
    text = quoted(arguments.text)
    return yes_or_no(is_shown, f"Ends with {text}.", f"Does not end with {text}.")


@check("Equals", OneText)
def equals(arguments: OneText, material: Material) -> Finding:
    """The answer is this text and nothing else; white space around either does not count."""
    wanted = _folded(arguments.text, arguments).strip()
    is_shown = _folded(material.text, arguments).strip() == wanted
    text = quoted(arguments.text.strip())
    return yes_or_no(is_shown, f"Is {text}.", f"Is not {text}.")


def _folded(text: str, arguments: Cased) -> str:
    return text.lower() if arguments.ignore_case else text


def _held(arguments: ManyTexts, material: Material) -> list[str]:
    text = _folded(material.text, arguments)
    return [wanted for wanted in arguments.texts if _folded(wanted, arguments) in text]


CHECKS: tuple[Check, ...] = (
    contains,
    contains_any,
    contains_all,
    contains_at_least,
    contains_word,
    starts_with,
    ends_with,
    equals,
)
