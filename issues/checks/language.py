"""The check of the language that an answer is written in."""

from functools import cache
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from issues.checks.check import Arguments, Check, CheckError, Finding, family, yes_or_no
from issues.checks.code_blocks import without_code
from issues.checks.quoting import quoted
from issues.checks.subject import Material

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

check = family("Language")

SURE = 0.4
"""The least probability with which a language counts as told: below, short texts are guesses."""

MOST_CHARACTERS = 50_000

NO_LANGUAGE = "zxx"
PART_OF = {"yue": "zh", "wuu": "zh", "arz": "ar", "ary": "ar", "nn": "no", "uzs": "uz", "ltg": "lv"}
"""Languages that are told apart, and the one that they are commonly called."""


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _known(code: str) -> str:
    if code == NO_LANGUAGE or code not in _identifier().labels:
        raise ValueError("no language that can be told; give its ISO 639 code, such as en or pt.")
    return code


class Language(Arguments):
    language: Annotated[str, AfterValidator(_known)] = Field(
        title="Language", description="ISO 639 code, such as en, fr or zh."
    )


@check("Language of the text", Language)
def language(arguments: Language, material: Material) -> Finding:
    """The answer is written in this language; code blocks are left out.

    A text too short or too mixed to tell gives no value.
    """
    code, probability = _identifier().classify(without_code(material.text)[:MOST_CHARACTERS])
    if code == NO_LANGUAGE or probability < SURE:
        raise CheckError("The text is too short or too mixed to tell its language.")
    is_shown = arguments.language in (code, PART_OF.get(code))
    said = f"The text reads as {quoted(code)} ({probability:.0%})."
    return yes_or_no(is_shown, said, said)


CHECKS: tuple[Check, ...] = (language,)
