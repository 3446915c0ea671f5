"""Matching a judge's score to an option of a scale. Pure."""

import re
from collections.abc import Sequence
from math import isfinite
from typing import Protocol


class Offered(Protocol):
    """An option of a scale: its label, and its value in [0, 1]."""

    @property
    def label(self) -> str: ...

    @property
    def value(self) -> float: ...


def option_of(score: object, options: Sequence[Offered]) -> Offered | None:
    """Return the option that a score names; None if none: nothing is guessed.

    True and false are 1 and 0 where there are two options. On a scale with numbers as labels
    a number is always a label: from 1 to 7, a score of 1 is the lowest and not the value 1.
    """
    for wanted in _spellings(score, binary=len(options) == 2):
        for option in options:
            if folded(option.label) == wanted:
                return option
    number = number_in(_binary(score) if len(options) == 2 else score)
    if number is None or any(number_in(option.label) is not None for option in options):
        return None
    worth = [option for option in options if round(option.value - number, 9) == 0]
    return worth[0] if len(worth) == 1 else None


def _spellings(score: object, *, binary: bool) -> list[str]:
    """Return the labels that a score may mean, most literal first."""
    spelled = [str(score) if isinstance(score, bool) else score, _binary(score) if binary else None]
    if isinstance(score, str):
        spelled.append(re.sub(r"(?i)^\s*class[\s_-]+", "", score))
    return [folded for folded in map(folded, spelled) if folded is not None]


def _binary(score: object) -> object:
    return {"true": 1, "false": 0}.get(str(score).strip().lower(), score)


def folded(score: object) -> str | None:
    """Normalise a label or number: "Half met" is half_met, "1.0" and 1 are 1."""
    if (number := number_in(score)) is not None:
        return f"{number:.12g}"
    if not isinstance(score, str):
        return None
    return re.sub(r"[\s_-]+", "_", score.strip().casefold()) or None


def number_in(score: object) -> float | None:
    """Return the number that a score is or spells; None if it has none or too many digits."""
    if isinstance(score, bool) or not isinstance(score, int | float | str):
        return None
    text = str(score).strip() if not isinstance(score, int) or abs(score) < 10**15 else ""
    if not re.fullmatch(
        r"[+-]?(\d{1,15}\.?\d{0,20}|\.\d{1,20})(e[+-]?\d{1,3})?", text, re.I | re.A
    ):
        return None
    number = float(text) + 0.0
    return number if isfinite(number) else None
