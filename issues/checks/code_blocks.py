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
        fence, end = opening.group(1), number + 1
        while end < len(lines) and not _closes(lines[end].strip(), fence):
            end += 1
        code = "\n".join(lines[number + 1 : end])
        yield Block(opening.group(2).lower(), code, range(number, end + 1))
        number = end + 1


def _closes(line: str, fence: str) -> bool:
    return len(line) >= len(fence) and not line.strip(fence[0])


def without_code(text: str) -> str:
    """Return the text without its code blocks."""
    inside = {number for block in code_blocks(text) for number in block.lines}
    lines = enumerate(text.split("\n"))
    return "\n".join(line for number, line in lines if number not in inside)
