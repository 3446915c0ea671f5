"""Check of an answer's language."""

from functools import cache
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from evalhub.display.formatting import percent
from issues.checks.check import Arguments, CannotTell, Finding, family, yes_or_no
from issues.checks.code_blocks import without_code
from issues.checks.quoting import quoted
from issues.checks.subject import Material

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

check = family("Language")

MIN_PROBABILITY = 0.4
"""Minimum probability of a language: below, short texts are guesses."""

MAX_CHARACTERS = 50_000

NO_LANGUAGE = "zxx"
PART_OF = {"yue": "zh", "wuu": "zh", "arz": "ar", "ary": "ar", "nn": "no", "uzs": "uz", "ltg": "lv"}
"""Detectable languages by ISO 639 code."""


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _known(code: str) -> str:
    if code == NO_LANGUAGE or code not in _identifier().labels:
        raise ValueError("is not a detectable language. Enter its ISO 639 code, such as en or pt.")
    return code


class Language(Arguments):
    language: Annotated[str, AfterValidator(_known)] = Field(
        title="Language", description="ISO 639 code, such as en, fr or zh."
    )


@check("Language of the text", Language)
def language(arguments: Language, material: Material) -> Finding:
    """The answer is written in this language; code blocks are ignored.

    A text too short or too mixed to detect has no value.
    """
    code, probability = _identifier().classify(without_code(material.text)[:MAX_CHARACTERS])
    if code == NO_LANGUAGE or probability < MIN_PROBABILITY:
        raise CannotTell("The text is too short or too mixed to detect its language.")
    is_shown = arguments.language in (code, PART_OF.get(code))
    explanation = f"The text reads as {quoted(code)} ({percent(probability, 0)})."
    return yes_or_no(is_shown, explanation, explanation)
