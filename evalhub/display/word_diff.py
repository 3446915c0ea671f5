"""Diff of two texts by words. Pure.

Texts of models may be built to make a comparison slow: rapidfuzz finds the longest common
subsequence bit-parallel, in tokens × tokens / 64 steps whatever the texts.
"""

import re
from itertools import groupby
from typing import Literal, NamedTuple

from rapidfuzz.distance import LCSseq

MAX_TOKENS = 6_000
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
    before, after = TOKEN.findall(first), TOKEN.findall(second)
    is_cut = max(len(before), len(after)) > MAX_TOKENS
    kept_before, kept_after = _common(before[:MAX_TOKENS], after[:MAX_TOKENS])
    return Diff(_parts(before, kept_before, "-"), _parts(after, kept_after, "+"), is_cut)


def _parts(tokens: list[str], kept: set[int], sign: Sign) -> tuple[Part, ...]:
    signs: list[Sign] = [
        "" if place in kept or place >= MAX_TOKENS else sign for place in range(len(tokens))
    ]
    for place in range(1, len(tokens) - 1):
        # Whitespace between two changed words counts as changed.
        if signs[place - 1] and signs[place + 1] and tokens[place].isspace():
            signs[place] = sign
    marked = groupby(zip(signs, tokens, strict=True), key=lambda pair: pair[0])
    return tuple(Part(mark, "".join(token for _, token in group)) for mark, group in marked)


def _common(first: list[str], second: list[str]) -> tuple[set[int], set[int]]:
    """Return the places of a longest common subsequence in each text."""
    kept_first: set[int] = set()
    kept_second: set[int] = set()
    for part in LCSseq.opcodes(first, second):
        if part.tag == "equal":
            kept_first.update(range(part.src_start, part.src_end))
            kept_second.update(range(part.dest_start, part.dest_end))
    return kept_first, kept_second
