"""Numbers of a summary that the request does not support.

A number is supported if, at the precision in which it is printed, it equals a value that was sent,
or a difference or ratio of two counts or of two shares. Shares may be printed as per cent.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from reports.summaries.restore import plain

MAX_FIGURES = 600
"""With more figures of a kind, differences and ratios support almost anything: they are not
computed."""

MAX_COUNTED = 20
"""Whole numbers up to this one occur as counts in every text."""

EPSILON = 1e-9

_PRINTED = re.compile(
    r"(?<![\w.,])(?<![^\W\d_]-)([-+\u2212]?)(\d{1,3}(?:,\d{3})+|\d+)((?:\.\d+)?)(?![\w]|[.,]\d)(\s?%)?"
)
_TAGS = re.compile(r"<[^<>]*>")
_LIST_NUMBER = re.compile(r"^\s*[-*]?\s*\(?\d{1,2}[.):](?=\s)", re.MULTILINE)
_GRADE = re.compile(r"\d+(?:\.\d+)?\s*(?:/|out of)\s*10\b(?!\s*(?:tests?|answers?|prompts?))")
_UNIT = re.compile(r"\s?(?:points?|percentage points?|pp|per ?cent|percent)\b", re.IGNORECASE)
_YEARS = range(1900, 2101)


class Printed(NamedTuple):
    """A number in a text, from `start` to `end`."""

    start: int
    end: int
    value: float
    decimals: int
    is_percent: bool


class Figures:
    """The figures of the request, prepared for comparison.

    Args:
        values: The figures: rates, scores and counts. Shares are in [0, 1].
        quoted: A text that was sent beside them, such as answers. Its numbers support the same
            ones only, and no small whole number: those stand in every text.
    """

    def __init__(self, values: Sequence[float], quoted: str = "") -> None:
        sent = sorted({abs(float(value)) for value in values})
        self.shares = _Kind([value for value in sent if value <= 1])
        self.counts = _Kind([value for value in sent if value == int(value)])
        self.quoted = {_key(number) for number in printed_numbers(quoted) if _is_telling(number)}

    def support(self, number: Printed) -> bool:
        """Return whether a value, a difference or a ratio of two prints as this number."""
        value, decimals = abs(number.value), number.decimals
        return (
            _key(number) in self.quoted
            or self.shares.has(value, decimals)
            or self.counts.has(value, decimals)
            or (number.is_percent and self.shares.has(value, decimals, scale=100))
            or (number.is_percent and self.counts.ratio(value, decimals, scale=100))
        )


class _Kind:
    """Figures of one kind, sorted; differences between kinds are meaningless."""

    def __init__(self, values: list[float]) -> None:
        self.values = values
        self.pairs = values if len(values) <= MAX_FIGURES else []

    def has(self, value: float, decimals: int, scale: float = 1) -> bool:
        """Return whether a value, or a difference or ratio of two, prints so when scaled."""
        low, high = _around(value, decimals, scale)
        return (
            self._count(low, high) > 0
            or any(self._other(one, one + low, one + high) for one in self.pairs)
            or self.ratio(value, decimals, scale)
        )

    def ratio(self, value: float, decimals: int, scale: float = 1) -> bool:
        low, high = _around(value, decimals, scale)
        return any(self._other(one, one * low, one * high) for one in self.pairs if one)

    def _other(self, one: float, low: float, high: float) -> bool:
        """Return whether another value lies there: a value always equals itself."""
        return self._count(low, high) > (low <= one <= high)

    def _count(self, low: float, high: float) -> int:
        return bisect_right(self.values, high) - bisect_left(self.values, low)


def _around(value: float, decimals: int, scale: float) -> tuple[float, float]:
    """Return the range that prints as this value at these decimals, once scaled."""
    half = 0.5 * 10**-decimals
    return (value - half) / scale - EPSILON, (value + half) / scale + EPSILON


def _key(number: Printed) -> tuple[float, int]:
    return abs(number.value), number.decimals


def _is_telling(number: Printed) -> bool:
    return bool(number.decimals) or abs(number.value) > MAX_COUNTED


def printed_numbers(text: str) -> Iterator[Printed]:
    """Return the numbers that are figures: not of lists, ids, years, versions or grades."""
    for match in _PRINTED.finditer(_blanked(text)):
        sign, whole, fraction, percent = match.groups()
        value = float(whole.replace(",", "") + fraction)
        is_percent = bool(percent or _UNIT.match(text, match.end()))
        is_year = not (fraction or is_percent or "," in whole) and value in _YEARS
        if not is_year:
            decimals = len(fraction) - 1 if fraction else 0
            end = match.end(3)
            signed = -value if sign in ("-", "\u2212") else value
            yield Printed(match.start(2), end, signed, decimals, is_percent)


def _blanked(text: str) -> str:
    """Blank everything in the text that is no figure of the data, keeping positions."""
    for pattern in (_TAGS, _LIST_NUMBER, _GRADE):
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return text


def unsupported(text: str, figures: Figures) -> list[tuple[int, int]]:
    """Return the (start, end) of unsupported numbers in `plain(text)`."""
    return [
        (number.start, number.end)
        for number in printed_numbers(plain(text))
        if not figures.support(number)
    ]
