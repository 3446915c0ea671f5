"""Fenced code blocks in Markdown."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# Possessive: what is taken is never given back, so a line of fences takes no longer than others.
FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)[ \t]*+([^\s`]*+)(?:\s[^`]*+)?+")


class Block(NamedTuple):
    """A code block: its language in lower case, its content, and its lines."""

    language: str
    code: str
    lines: range


def code_blocks(text: str) -> Iterator[Block]:
    """Return the blocks in order, at any indentation. An unclosed one ends with the text."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        opening = FENCE.fullmatch(lines[number].rstrip())
        if opening is None:
            number += 1
            continue
        end = _closing(lines, number + 1, opening.group(1))
        code = "\n".join(lines[number + 1 : end])
        yield Block(opening.group(2).lower(), code, range(number, end + 1))
        number = end + 1


def _closing(lines: list[str], start: int, fence: str) -> int:
    """Return the line that closes a block, or the number after the last line."""
    for number in range(start, len(lines)):
        line = lines[number].strip()
        if len(line) >= len(fence) and not line.strip(fence[0]):
            return number
    return len(lines)


def without_code(text: str) -> str:
    """Return the text without its code blocks."""
    inside = {number for block in code_blocks(text) for number in block.lines}
    lines = enumerate(text.split("\n"))
    return "\n".join(line for number, line in lines if number not in inside)
