"""Word-by-word diff of two texts. Pure.

Untrusted texts may be built to make a comparison slow. The longest common subsequence is computed
on rows of bits (H. Hyyrö, 2004, Bit-parallel LCS-length computation revisited), in
tokens × tokens / 64 steps for any text; the stored rows are then traced back.
"""

import re
from itertools import groupby
from typing import Literal, NamedTuple

MOST_TOKENS = 6_000
"""Tokens compared of either text."""

TOKEN = re.compile(r"\s+|\w+|[^\w\s]")

Sign = Literal["", "-", "+"]


class Part(NamedTuple):
    """A part of a text: "-" only in the first, "+" only in the second, "" in both."""

    sign: Sign
    text: str


class Diff(NamedTuple):
    """Both texts in parts; `is_cut`: their ends were not compared."""

    first: tuple[Part, ...]
    second: tuple[Part, ...]
    is_cut: bool


def word_diff(first: str, second: str) -> Diff:
    """Compare two texts by words, whitespace and punctuation."""
    before, after = TOKEN.findall(first), TOKEN.findall(second)
    is_cut = max(len(before), len(after)) > MOST_TOKENS
    kept_before, kept_after = _common(before[:MOST_TOKENS], after[:MOST_TOKENS])
    return Diff(_parts(before, kept_before, "-"), _parts(after, kept_after, "+"), is_cut)


def _parts(tokens: list[str], kept: set[int], sign: Sign) -> tuple[Part, ...]:
    signs: list[Sign] = [
        "" if place in kept or place >= MOST_TOKENS else sign for place in range(len(tokens))
    ]
    for place in range(1, len(tokens) - 1):
        # Whitespace between two changed words counts as changed.
        if signs[place - 1] and signs[place + 1] and tokens[place].isspace():
            signs[place] = sign
    marked = groupby(zip(signs, tokens, strict=True), key=lambda pair: pair[0])
    return tuple(Part(mark, "".join(token for _, token in group)) for mark, group in marked)


def _common(first: list[str], second: list[str]) -> tuple[set[int], set[int]]:
    """Return the positions of a longest common subsequence in each text."""
    places: dict[str, int] = {}
    for place, token in enumerate(second):
        places[token] = places.get(token, 0) | 1 << place
    full = (1 << len(second)) - 1
    row, rows = full, [full]
    for token in first:
        matches = row & places.get(token, 0)
        row = ((row + matches) | (row - matches)) & full
        rows.append(row)
    return _walk_back(rows, len(first), len(second))


def _walk_back(rows: list[int], i: int, j: int) -> tuple[set[int], set[int]]:
    """Trace the rows back; a bit is 0 where that token extends the subsequence."""
    kept_first, kept_second = set(), set()
    while i and j:
        if rows[i] >> (j - 1) & 1:
            j -= 1
        elif not rows[i - 1] >> (j - 1) & 1:
            i -= 1
        else:
            i, j = i - 1, j - 1
            kept_first.add(i)
            kept_second.add(j)
    return kept_first, kept_second
