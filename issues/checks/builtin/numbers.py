"""Checks for numbers, and for similarity to a text."""

import re

from pydantic import Field

from issues.checks.check import Arguments, Cased, CheckError, Finding, family, yes_or_no
from issues.checks.subject import Material

check = family("Numbers and similarity")

DIGITS = 9
MAX_CHARACTERS = 50_000

NUMBER = re.compile(
    r"(?<![\w.])[-−+]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+|(?=\.[0-9]))"
    r"(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
)


class Number(Arguments):
    value: float = Field(allow_inf_nan=False, title="Value")
    tolerance: float = Field(
        0.0, ge=0, allow_inf_nan=False, title="Tolerance", description="Accepted deviation."
    )


class Ratio(Cased):
    text: str = Field(max_length=MAX_CHARACTERS, title="Text")
    least: float = Field(
        ge=0, le=1, title="At least", description="From 0 (nothing in common) to 1 (equal)."
    )


@check("Number equals", Number)
def number_equals(arguments: Number, material: Material) -> Finding:
    """The last number in the answer is this one, such as 1,234.5 or -2e3. No number: fails."""
    number = last_number(material.text)
    if number is None:
        return Finding(0.0, "Contains no number.")
    off = round(abs(number - arguments.value), DIGITS)
    explanation = f"The last number is {number:g}; expected {arguments.value:g}."
    return yes_or_no(off <= round(arguments.tolerance, DIGITS), explanation, explanation)


@check("Similarity to a text", Ratio)
def text_ratio(arguments: Ratio, material: Material) -> Finding:
    """At least this similarity (1 − edits / longer length); outer space is ignored."""
    from rapidfuzz.distance import Levenshtein

    text, wanted = material.text.strip(), arguments.text.strip()
    if len(text) > MAX_CHARACTERS:
        raise CheckError(
            f"The text has {len(text):,} characters; the maximum is {MAX_CHARACTERS:,}."
        )
    if arguments.ignore_case:
        text, wanted = text.lower(), wanted.lower()
    ratio = round(Levenshtein.normalized_similarity(text, wanted), DIGITS)
    explanation = f"The similarity is {ratio:.3f}; at least {arguments.least:g} required."
    return yes_or_no(ratio >= arguments.least, explanation, explanation)


def last_number(text: str) -> float | None:
    """Return the last number in a text; None without one."""
    found = NUMBER.findall(text)
    return float(found[-1].replace(",", "").replace("−", "-")) if found else None
