"""Lists of numbers as people write them: "3, 8-12" or "0, 0.7"."""

import re
from collections.abc import Iterable, Sequence

from evalhub.display.formatting import few
from runs.limits import MAX_TEMPERATURES

MAX_NUMBERS = 20_000
MAX_SHOWN = 20

RANGE_SIGN = re.compile(r"(?<!\s)\s*+[-–]\s*+")
"""Possessive, so that long runs of spaces are scanned once."""


def numbers_in(text: str) -> list[int]:
    """Return the numbers in a text, in order, without repetitions.

    Raises:
        ValueError: A part is neither number nor range, or there are too many numbers.
    """
    found: dict[int, None] = {}
    for part in re.split(r"[,;\s]+", RANGE_SIGN.sub("-", text.strip())):
        if part:
            first, last = _range(part)
            if last - first >= MAX_NUMBERS:
                raise ValueError(f"{part!r} names more than {MAX_NUMBERS:,} numbers.")
            found.update(dict.fromkeys(range(first, last + 1)))
    return list(found)


def _range(part: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,15})(?:-(\d{1,15}))?", part, re.ASCII)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise ValueError(f"{part!r} is not a number or range such as 3 or 8-12.")
    return int(match[1]), int(match[2] or match[1])


def as_ranges(numbers: Iterable[int]) -> str:
    """Write numbers sorted and as ranges."""
    spans: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)


MAX_TEMPERATURE = 5
"""No provider accepts a higher temperature."""


def temperatures_in(text: str) -> list[float]:
    """Return the temperatures in a text, in order, without repetitions.

    Raises:
        ValueError: A part is not a temperature, or there are too many.
    """
    found = list(dict.fromkeys(_temperature(part) for part in re.split(r"[,;\s]+", text) if part))
    if len(found) > MAX_TEMPERATURES:
        raise ValueError(
            f"{len(found)} temperatures are too many: the limit is {MAX_TEMPERATURES}."
        )
    return found


def _temperature(part: str) -> float:
    is_number = re.fullmatch(r"\d{1,3}(\.\d{1,6})?", part, re.ASCII)
    if not is_number or float(part) > MAX_TEMPERATURE:
        raise ValueError(f"{part!r} is not a temperature from 0 to {MAX_TEMPERATURE}, such as 0.7.")
    return plain(float(part))


def plain(number: float) -> float:
    """Return whole numbers as int, so that 1 and 1.0 have one digest."""
    return int(number) if float(number).is_integer() else number


def as_list(numbers: Iterable[float]) -> str:
    """Write numbers as `temperatures_in` reads them."""
    return ", ".join(f"{number:g}" for number in numbers)


def joined(ids: Sequence[int]) -> str:
    """Return numbers for a message, the first twenty of many."""
    return few([str(number) for number in ids], most=MAX_SHOWN)
