"""Reading the reply of a model that drafts: takes any text, never raises. Pure.

A reply counts only if its object has every field with some text. Nothing is made up for a missing
one: a refusal, also one that comes back in the right form, gives no draft.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import json_repair

from evalhub.llm.verdicts.reasoning import answer_alone
from evalhub.llm.verdicts.reply_syntax import (
    LONGEST_REPAIR,
    LONGEST_REPLY,
    MAX_BRACES,
)
from evalhub.values.storable import storable

LOST_SHARE = 0.02
"""Most of a broken reply's letters that its repair may lose."""
SHORTEST_REFUSAL = 12
"""Letters of a reply without JSON, from which on its return in a field is recognised."""


class Fields(NamedTuple):
    """The texts of a reply by field; `repaired`: its JSON had errors."""

    texts: dict[str, str]
    repaired: bool = False


class NotInForm(NamedTuple):
    """Why a reply cannot be used; `is_refusal`: it holds no object whose form could be repaired."""

    reason: str
    is_refusal: bool = False


def read_fields(
    reply: str, names: Sequence[str], refused: Sequence[str] = ()
) -> Fields | NotInForm:
    """Read the texts of these fields from a reply.

    Args:
        reply: The whole reply; prose and a fence around the object do not matter.
        names: The names of the fields, all required.
        refused: Earlier replies without an object: a field that repeats one is a refusal too.
    """
    text = answer_alone(reply[-LONGEST_REPLY:].lstrip("\ufeff")).strip()
    if not text:
        return NotInForm("It is empty.", is_refusal=True)
    start, end = text.find("{"), text.rfind("}")
    if start < 0:
        return NotInForm("It has no JSON object.", is_refusal=True)
    found, repaired = _object(text[start : end + 1 if end > start else len(text)])
    if found is None:
        return NotInForm("Its JSON is broken.")
    texts, problem = _texts(found, names)
    if problem:
        return NotInForm(problem)
    if any(_repeats(text, refused) for text in texts.values()):
        return NotInForm("It repeats its refusal.", is_refusal=True)
    return Fields(texts, repaired)


def _texts(found: dict[str, Any], names: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return the text of each field, and what is wrong; unknown fields are ignored."""
    given = {str(key).strip().casefold(): value for key, value in found.items()}
    texts: dict[str, str] = {}
    for name in names:
        value = found.get(name, given.get(name.strip().casefold()))
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            return {}, f"The field {name!r} is missing." if value is None else (
                f"The field {name!r} is not a text."
            )
        if not value.strip():
            return {}, f"The field {name!r} is empty."
        texts[name] = storable(value.strip())
    return texts, ""


def _repeats(text: str, refused: Sequence[str]) -> bool:
    letters = _letters(text)
    earlier = [found for reply in refused if len(found := _letters(reply)) >= SHORTEST_REFUSAL]
    return any(letters in one or one in letters for one in earlier if letters)


# Broken JSON -------------------------------------------------------------------------------------

PIECE = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def _object(text: str) -> tuple[dict[str, Any] | None, bool]:
    """Return the object, and whether it had errors; a repair that would lose text gives None."""
    if (found := _parsed(text)) is not None:
        return found, False
    bare = PIECE.sub(lambda piece: piece[0] if piece[0].startswith('"') else "", text)
    if (found := _parsed(bare)) is not None:
        return found, True
    if len(bare) > LONGEST_REPAIR or bare.count("{") + bare.count("[") > MAX_BRACES:
        return None, False
    try:
        loose = json_repair.loads(bare)
    except (ValueError, RecursionError, IndexError, TypeError):
        return None, False
    if not isinstance(loose, dict) or not bare.rstrip().endswith("}"):
        return None, False
    written = len(_letters(bare))
    kept = len(_letters("".join(f"{key}{value}" for key, value in loose.items())))
    return (loose, True) if kept >= written * (1 - LOST_SHARE) else (None, False)


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
