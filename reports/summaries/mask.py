"""Remove the names of models and developers from texts, and verify that none is left.

Names count as whole words: in any case, hyphenated or spaced otherwise than usual, possessive,
plural, or with a version attached; those that are dictionary words only as they are capitalised.
The check for leaks compares words and has none of the patterns that mask: one can err alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product
from unicodedata import normalize

from reports.summaries.names import DEVELOPER, MODEL, PROVIDER, Name

MASKS = {MODEL: "[name of a model withheld]", DEVELOPER: "[name of a developer withheld]"}
"""Placeholders for names. They are no ids: what a text says of a well-known developer
would reveal its id."""

MAX_WORDS = 12
"""Words by which longer names are searched."""

_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Invisible characters that could split a name."""

_STROKES = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
"""Accents and strokes that change no letter's identity."""

_SAME_LOOK = str.maketrans(
    "аеосрхуіјѕԁԛԝһѵАВЕКМНОРСТХУІЈЅԌαινοκρυΑΒΕΖΗΙΚΜΝΟΡΤΥΧᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢıℓ",
    "aeocpxyijsdqwhvABEKMHOPCTXYIJSGaivokpuABEZHIKMNOPTYXabcdeghijklmnoprtuvwyzil",
)

MAX_GAP = 3
"""Characters, neither letters nor digits, allowed between the words of a name."""

MAX_GROUPED = 6
"""Names of more words are searched with all words separated or none."""

_JOINED = r"[\-\u2010\u2011]?"
_PARTS = re.compile(r"[^\W_]+|[+]")
_CAPITALS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z]{3})(?=\d)")


class Masking:
    """Mask texts one by one and count the removed names."""

    def __init__(self, names: Iterable[Name]) -> None:
        self.names = tuple(names)
        self.counts: Counter[str] = Counter()
        self._pattern = _pattern(self.names)

    def __call__(self, text: str) -> str:
        """Return the text without the names."""
        shown = seen(text)
        if self._pattern is None:
            return shown
        out, at = "", 0
        for match in self._pattern.finditer(folded(shown)):
            name = self.names[int((match.lastgroup or "n0")[1:])]
            self.counts[name.text] += 1
            out += shown[at : match.start()] + MASKS.get(name.kind, "")
            at = match.end()
        return out + shown[at:]


def seen(text: str) -> str:
    """Return the text without invisible characters and letter decorations."""
    return _STROKES.sub("", normalize("NFC", _HIDDEN.sub("", text)))


class _Folding(dict[int, str]):
    """Map each character to the plain letter or digit it looks like, one to one."""

    def __missing__(self, code: int) -> str:
        look = normalize("NFKD", chr(code).translate(_SAME_LOOK))
        is_one = len(look) == 1 or chr(code).isalpha()  # "™" is no letter, and not one
        found = look[0] if is_one and look[0].isascii() else chr(code)
        if code < 0x10000:  # the rest would let a text fill the memory
            self[code] = found
        return found


_FOLDED = _Folding()


def folded(text: str) -> str:
    """Return the text to search for names, as long as the text itself.

    Letters of another width, style or alphabet that look like plain ones are plain in it.
    """
    return text.translate(_FOLDED)


@lru_cache(maxsize=16)
def _pattern(names: Sequence[Name]) -> re.Pattern[str] | None:
    """Return one pattern for all names; group "n3" is the fourth."""
    if not names:
        return None
    found = (f"(?P<n{number}>{_of(name)})" for number, name in enumerate(names))
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(found)})")


def _of(name: Name) -> str:
    text = folded(name.text)
    parts = _PARTS.findall(text)[:MAX_WORDS]
    widest = max([MAX_GAP, *map(len, re.findall(r"[\W_]+", text))])
    between = rf"[\W_]{{0,{widest}}}"
    if name.kind == PROVIDER:
        return rf"(?i:{between.join(map(re.escape, parts))})[/:](?=\w)"
    if name.is_word:
        forms = "|".join(re.escape(form) for form in sorted(written(text)))
        return rf"(?:{forms})(?![^\W_])"
    # Words may be split where capitals or digits begin, and end in a plural or a version.
    pieces = (map(re.escape, _CAPITALS.split(part)) for part in parts)
    words = between.join(_JOINED.join(piece) for piece in pieces)
    ending = r"(?:s|\d[\w.]*)?" if parts[-1][-1].isalpha() else ""
    return rf"(?i:{words}{ending})(?![^\W_])"


def written(name: str) -> set[str]:
    """Match the spellings of a name that is also a word."""
    words = name.split()
    return {name, name.upper(), " ".join(word[:1].upper() + word[1:] for word in words)}


# The check ---------------------------------------------------------------------------------------


class _Words:
    """The words of a text in order, with the positions of each form."""

    def __init__(self, text: str) -> None:
        found = list(_WORD.finditer(folded(seen(text))))
        self.words = [match[0] for match in found]
        self.small = [word.lower() for word in self.words]
        gaps = (b.start() - a.end() for a, b in pairwise(found))
        self.is_near = [gap <= MAX_GAP for gap in gaps]
        self.places: dict[str, list[int]] = {}
        for place, word in enumerate(self.small):
            for form in _forms(word):
                self.places.setdefault(form, []).append(place)

    def has(self, sought: Sequence[str]) -> bool:
        """Return whether these words are adjacent; the last one may have an ending."""
        return any(self._is_at(place, sought) for place in self.places.get(sought[0], ()))

    def _is_at(self, place: int, sought: Sequence[str]) -> bool:
        end = place + len(sought)
        *whole, last = self.small[place:end]
        return (
            whole == list(sought[:-1])
            and sought[-1] in _forms(last)
            and all(self.is_near[place : end - 1])
        )


_WORD = re.compile(r"[^\W_]+")
_VERSION = re.compile(r"(?<=[^\W\d_])\d\w*$")


def _forms(word: str) -> set[str]:
    """Yield a word, and its forms without plural ending or attached version."""
    return {word, word.removesuffix("s"), _VERSION.sub("", word)}


def leaks(text: str, names: Iterable[Name]) -> list[str]:
    """Return the listed names found in a text. A name's words may be written as one.

    A provider's alone tells no model and is not looked for.
    """
    words = _Words(text)
    return [name.text for name in names if name.kind != PROVIDER and _occurs(name, words)]


def _occurs(name: Name, words: _Words) -> bool:
    if name.is_word:
        forms = written(folded(name.text))
        return any(form in words.words for form in forms if _WORD.fullmatch(form))
    parts = [folded(part) for part in name.parts[:MAX_WORDS]]
    return any(words.has(form) for form in _groupings(parts))


def _groupings(parts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the words, each separated from the next or joined to it, in every way."""
    if len(parts) > MAX_GROUPED:
        yield from (tuple(parts), ("".join(parts),))
        return
    for joined in product((False, True), repeat=len(parts) - 1):
        words = [parts[0]]
        for part, is_joined in zip(parts[1:], joined, strict=True):
            if is_joined:
                words[-1] += part
            else:
                words.append(part)
        yield tuple(words)


def without_own(names: Sequence[Name], own: str) -> tuple[list[Name], list[str]]:
    """Split names into those that can be masked, and those that occur in the instruction.

    Args:
        own: The text that is sent whatever the runs are.
    """
    used = set(leaks(own, names))
    return [name for name in names if name.text not in used], sorted(used)
