"""Checks for numbers, and for likeness to a text."""

import re

from pydantic import Field

from issues.checks.check import Arguments, Cased, Check, CheckError, Finding, family, yes_or_no
from issues.checks.subject import Material

check = family("Numbers and likeness")

DIGITS = 9
MOST_CHARACTERS = 50_000

NUMBER = re.compile(
    r"(?<![\w.])[-−+]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+|(?=\.[0-9]))"
    r"(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
)


class Number(Arguments):
    value: float = Field(allow_inf_nan=False, title="Value")
    tolerance: float = Field(
        0.0, ge=0, allow_inf_nan=False, title="Tolerance", description="How far off is still right."
    )


class Ratio(Cased):
    text: str = Field(max_length=MOST_CHARACTERS, title="Text")
    least: float = Field(
        ge=0, le=1, title="At least", description="From 0, nothing alike, to 1, the same."
    )


@check("Number equals", Number)
def number_equals(arguments: Number, material: Material) -> Finding:
    """The last number in the answer is this one, such as 1,234.5 or -2e3. Without any: no."""
    number = last_number(material.text)
    if number is None:
        return Finding(0.0, "Holds no number.")
    off = round(abs(number - arguments.value), DIGITS)
    said = f"The last number is {number:g}; {arguments.value:g} asked."
    return yes_or_no(off <= round(arguments.tolerance, DIGITS), said, said)


@check("Likeness to a text", Ratio)
def text_ratio(arguments: Ratio, material: Material) -> Finding:
    """1 − edits / the longer length (Levenshtein) is at least so much; space around is left out."""
    from rapidfuzz.distance import Levenshtein

    text, wanted = material.text.strip(), arguments.text.strip()
    if len(text) > MOST_CHARACTERS:
        raise CheckError(
            f"The text has {len(text):,} characters; at most {MOST_CHARACTERS:,} are compared."
        )
    if arguments.ignore_case:
        text, wanted = text.lower(), wanted.lower()
    ratio = round(Levenshtein.normalized_similarity(text, wanted), DIGITS)
    said = f"The likeness is {ratio:.3f}; at least {arguments.least:g} asked."
    return yes_or_no(ratio >= arguments.least, said, said)


def last_number(text: str) -> float | None:
    """The last number in a text; None without one."""
    found = NUMBER.findall(text)
    return float(found[-1].replace(",", "").replace("−", "-")) if found else None


CHECKS: tuple[Check, ...] = (number_equals, text_ratio)
