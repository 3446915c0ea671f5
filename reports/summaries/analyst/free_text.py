"""Figures in a text that no claim stands for: they are flagged, and never silently dropped. Pure.

Whoever writes a figure into the text evades the check of claims. So every digit counts, every
percentage, number word, ratio and rank, and where no difference is claimed also every word that
calls one model better than another. English words are known; digits and signs count in any
language.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from html import unescape
from typing import NamedTuple

_ENTITY = re.compile(r"&#?\w{1,12};?")
_SIGNS = "%\u2030\uff05"
_DIGITS = re.compile(rf"[.,]?\d+(?:[.,:/\u2044]\d+)*(?:\s?[{_SIGNS}])?|[{_SIGNS}]")
_TEENS = "thir|four|fif|six|seven|eigh|nine"
_SMALL = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_NUMBER = (
    rf"zero|{_SMALL}|(?:{_TEENS})teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"|hundreds?|thousands?|millions?|billions?|dozens?"
)
_ORDINAL = (
    r"thirds?(?!\s+part|\s+person)|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?"
    r"|hundredths?|eleventh|twelfth"
)
_RATIO = (
    r"twice|thrice|half|halves|halved|quarters?|doubles?|doubled|triples?|tripled|trebled?"
    r"|quadrupled?|majority|minority|(?:\w+-|\w*(?:two|three|four|five|six|seven|eight|nine|ten|dred|sand))fold"
    r"|times\s+(?:as|more|fewer|less)"
)
_PERCENT = r"per\s?cent|percentages?|percentage\s+points?|pp"
_ONE = (
    r"one\s+(?:in|out\s+of)\b"
    r"|(?:one|single|sole)\s+(?:\w+\s+)?(?:tests?|answers?|results?|points?|errors?|percent)"
    r"|(?:pass|fail|miss|solv)(?:e[sd]|s|ed|ing)?\s+(?:\w+\s+)?one"
)
_RANKED = (
    r"(?:rank\w*|com(?:es?|ing)|came|plac\w+|finish\w*|stands?)\s+(?:\w+\s+)?(?:first|second|last)"
    r"|(?:first|second|last)\s+(?:place|rank)|runner-?up|second-best|second\s+to|number\s+one"
)
_ALL = (
    r"(?:pass|fail|solv|miss)(?:e[sd]|s|ed|ing)?\s+(?:\w+\s+)?"
    r"(?:all|every|everything|none|nothing|no|most|few|any)"
    r"|(?:all|every|none|no|most|few)\s+(?:\w+\s+){0,3}(?:pass|fail)(?:e[sd]|s|ed)?"
)
_WORDS = re.compile(
    rf"\b(?:{'|'.join((_ONE, _RANKED, _ALL, _RATIO, _PERCENT, _ORDINAL, _NUMBER))})"
    rf"(?:[\s-]+(?:and[\s-]+)?(?:{_NUMBER}|one|{_PERCENT}))*\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:ahead|behind|leads?|leading|leader|outperform\w*|outscor\w*|beats?|beaten|surpass\w*"
    r"|outrank\w*|trails?|trailing|best|worst|better|worse|higher|highest|lower|lowest|stronger"
    r"|strongest|weaker|weakest|superior|inferior|(?:more|less)\s+(?:often|accurate\w*|reliabl\w*)"
    r"|(?:most|least)\s+(?:often|accurate\w*|reliabl\w*)|(?:more|fewer)\s+(?:tests|errors|answers))"
    r"\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?\u3002])\s+|\n+")

FIGURE = "A figure that is no claim: nothing says which cell it is from."
COMPARISON = "A comparison without the difference that it rests on."


Span = tuple[int, int]


class Mark(NamedTuple):
    """A part of a text that nothing supports, and why."""

    start: int
    end: int
    reason: str


def sentences(text: str) -> Iterator[Span]:
    """Yield the start and end of each sentence; together they are the text."""
    start = 0
    for match in _SENTENCE_END.finditer(text):
        yield start, match.end()
        start = match.end()
    if start < len(text):
        yield start, len(text)


def flagged_sentences(text: str, flagged: Sequence[Mark]) -> int:
    """Count the sentences in which something is flagged."""
    return sum(any(start <= mark.start < end for mark in flagged) for start, end in sentences(text))


def figures_in(text: str, ignored: Sequence[Span] = ()) -> list[Mark]:
    """Return the figures in a text, in order, but those in the ignored parts, such as names."""
    bare = _blanked(text, ignored)
    spans = [match.span() for match in (*_DIGITS.finditer(bare), *_WORDS.finditer(bare))]
    spans += [
        (place, place + 1)
        for place, character in enumerate(bare)
        if unicodedata.category(character) in ("Nl", "No")
    ]
    spans += [
        match.span()
        for match in _ENTITY.finditer(bare)
        if (meant := unescape(match[0])) != match[0] and figures_in(meant)
    ]
    return [Mark(start, end, FIGURE) for start, end in _merged(spans)]


def comparisons_in(text: str, ignored: Sequence[Span] = ()) -> list[Mark]:
    """Return the words that call one model better than another."""
    found = _COMPARED.finditer(_blanked(text, ignored))
    return [Mark(match.start(), match.end(), COMPARISON) for match in found]


def _blanked(text: str, ignored: Sequence[Span]) -> str:
    """Blank the ignored parts, keeping positions."""
    for start, end in ignored:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            start, end = merged[-1][0], max(end, merged.pop()[1])
        merged.append((start, end))
    return merged
