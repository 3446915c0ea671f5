"""Numbers as people write them: "3, 8-12"."""

import re
from collections.abc import Iterable

MOST_NUMBERS = 20_000


def numbers_in(text: str) -> list[int]:
    """The numbers that a text names, in order, each once.

    Raises:
        ValueError: A part is no number or range, named in the message; or they are too many.
    """
    found: dict[int, None] = {}
    for part in re.split(r"[,;\s]+", re.sub(r"\s*[-–]\s*", "-", text.strip())):
        if part:
            first, last = _range(part)
            if last - first >= MOST_NUMBERS:
                raise ValueError(f"{part!r} names more than {MOST_NUMBERS:,} numbers.")
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
