"""Numbers as people write them: "3, 8-12", or "0, 0.7"."""

import re
from collections.abc import Iterable

MAX_NUMBERS = 20_000

RANGE_SIGN = re.compile(r"(?<!\s)\s*+[-–]\s*+")
"""With the space around it, which is looked at once however much of it there is."""


def numbers_in(text: str) -> list[int]:
    """The numbers that a text names, in order, each once.

    Raises:
        ValueError: A part is no number or range, named in the message; or they are too many.
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
        raise ValueError(f"{part!r} is no number and no range: write, for example, 3, 8-12.")
    return int(match[1]), int(match[2] or match[1])


def as_ranges(numbers: Iterable[int]) -> str:
    """The same numbers, sorted and as short as may be."""
    spans: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)


MAX_TEMPERATURE = 5
"""No provider takes a higher temperature."""
MAX_TEMPERATURES = 20
"""In one list: each makes a run or a judge of its own."""


def temperatures_in(text: str) -> list[float]:
    """The temperatures that a text names, in order, each once.

    Raises:
        ValueError: A part is no temperature, named in the message; or they are too many.
    """
    found = list(dict.fromkeys(_temperature(part) for part in re.split(r"[,;\s]+", text) if part))
    if len(found) > MAX_TEMPERATURES:
        raise ValueError(f"{len(found)} are too many: {MAX_TEMPERATURES} is the most.")
    return found


def _temperature(part: str) -> float:
    is_number = re.fullmatch(r"\d{1,3}(\.\d{1,6})?", part, re.ASCII)
    if not is_number or float(part) > MAX_TEMPERATURE:
        raise ValueError(
            f"{part!r} is no temperature from 0 to {MAX_TEMPERATURE}: write, for example, 0, 0.7."
        )
    return plain(float(part))


def plain(number: float) -> float:
    """The same number, whole ones as such: 1 and 1.0 are one value and have one digest."""
    return int(number) if float(number).is_integer() else number


def as_list(numbers: Iterable[float]) -> str:
    """Numbers as `temperatures_in` reads them."""
    return ", ".join(f"{number:g}" for number in numbers)
