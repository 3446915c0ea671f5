"""Parse pasted criteria, one per line. Pure."""

import re
from typing import NamedTuple

from evalhub.values.storable import UNSTORABLE

MAX_LINES = 200

_BULLET = re.compile(r"(?:[*•·–—+]|\(?\d{1,3}[.)]|\[[ xX]?\])\s+")
_DASH = re.compile(r"-\s*(?=\S)")
_NOT = re.compile(
    r"(?:not\s*:|(?:it\s+|the\s+answer\s+)?(?:should|must)(?:\s+not|n['’]t)\b\s*:?)\s*", re.I
)
_SHOULD = re.compile(r"(?:it\s+|the\s+answer\s+)?(?:should|must)\b\s*:?\s*", re.I)


class Line(NamedTuple):
    """A parsed criterion: its text, and its polarity."""

    text: str
    is_inverted: bool


def criteria_in(pasted: str) -> list[Line]:
    """Parse the criteria of a pasted text, without empty lines, bullets and numbers.

    A line is a "should not" if it begins with "-", "not:", "should not" or "must not". If every
    line begins with "-", it is a plain list, and the dashes mean nothing.
    """
    stripped = [line.strip() for line in UNSTORABLE.sub("", pasted).splitlines()]
    lines = [line for line in stripped if line]
    is_list = len(lines) > 1 and all(_DASH.match(line) for line in lines)
    found = []
    for line in lines:
        text = _cut(_BULLET, line)
        dashed = _DASH.match(text)
        text = _cut(_DASH, text)
        negated = _NOT.match(text)
        text = _cut(_NOT, text) if negated else _cut(_SHOULD, text)
        if any(map(str.isalnum, text)):
            is_inverted = bool(negated) or (bool(dashed) and not is_list)
            found.append(Line(text[:1].upper() + text[1:], is_inverted))
    return found[:MAX_LINES]


def _cut(beginning: re.Pattern[str], text: str) -> str:
    found = beginning.match(text)
    return text[found.end() :] if found else text
