"""Checks for numbers, and for similarity to a text."""

from math import isclose
from typing import Literal

from pydantic import Field

from issues.checks.check import Arguments, CannotTell, Compared, Finding, family, yes_or_no
from issues.checks.number_notation import last_reading
from issues.checks.quoting import quoted
from issues.checks.subject import Material

check = family("Numbers and similarity")

DIGITS = 9
MAX_CHARACTERS = 50_000


class Number(Arguments):
    value: float = Field(allow_inf_nan=False, title="Value")
    tolerance: float = Field(
        0.0, ge=0, allow_inf_nan=False, title="Tolerance", description="Accepted deviation."
    )
    decimal_sign: Literal["", ".", ","] = Field(
        "",
        title="Decimal sign",
        description=(
            "How answers write one half: . for 0.5, or , for 0,5. It decides whether 1.234 and "
            "1,234 are thousands. Leave empty if answers may be in any language."
        ),
    )

    def fits(self, number: float) -> bool:
        deviation = round(abs(number - self.value), DIGITS)
        is_same = isclose(number, self.value, rel_tol=1e-15)  # as 6.022 × 10²³
        return is_same or deviation <= round(self.tolerance, DIGITS)


class Ratio(Compared):
    text: str = Field(max_length=MAX_CHARACTERS, title="Text")
    least: float = Field(
        ge=0, le=1, title="At least", description="From 0 (nothing in common) to 1 (equal)."
    )


@check("Number equals", Number)
def number_equals(arguments: Number, material: Material) -> Finding:
    """The last number in the answer is this one, in any notation: 1,234.5, 1.234,5 or 2×10³.

    No number: fails. A notation that may also mean the expected number has no value.
    """
    reading = last_reading(material.text, arguments.decimal_sign)
    if reading is None:
        return Finding(0.0, "Contains no number.")
    wanted, number = f"{arguments.value:.15g}", reading.value
    if number is not None and arguments.fits(number):
        return Finding(1.0, f"The last number is {number:.15g}; expected {wanted}.")
    if reading.is_open or any(map(arguments.fits, reading.others)):
        raise CannotTell(
            f"Cannot tell whether {quoted(reading.text)} means {wanted}. "
            "Ask for a plain number in the test, or state the decimal sign in the check."
        )
    if number is None:
        return Finding(0.0, f"{quoted(reading.text)} is not {wanted}.")
    return Finding(0.0, f"The last number is {number:.15g}; expected {wanted}.")


@check("Similarity to a text", Ratio)
def text_ratio(arguments: Ratio, material: Material) -> Finding:
    """At least this similarity (1 − edits / longer length); outer space is ignored."""
    from rapidfuzz.distance import Levenshtein

    text, wanted = (arguments.form(text).strip() for text in (material.text, arguments.text))
    if len(text) > MAX_CHARACTERS:
        raise CannotTell(
            f"The text has {len(text):,} characters; the maximum is {MAX_CHARACTERS:,}."
        )
    ratio = round(Levenshtein.normalized_similarity(text, wanted), DIGITS)
    explanation = f"The similarity is {ratio:.3f}; at least {arguments.least:g} required."
    return yes_or_no(ratio >= arguments.least, explanation, explanation)
