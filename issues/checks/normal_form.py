"""One form of texts that look the same, in which checks compare them. Pure."""

from unicodedata import category, normalize

import regex

from evalhub.values.look_alikes import CharacterMap

_OTHERS = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\xb4\uff07", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\uff02", '"'),
    # Not the em dash: whether an answer has one is what some checks ask.
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\r\u2028\u2029", "\n"),
    **dict.fromkeys("\u034f\ufe0e\ufe0f", ""),  # how others are joined, or drawn
    **{"\u2026": "...", "\xb5": "\u03bc"},
    **{sign: normalize("NFKC", sign) for sign in "\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06"},
}


def _same_sign(character: str) -> str:
    """Return what a sign looks like: a space of any width, nothing, or another sign."""
    by_category = {"Zs": " ", "Cf": ""}.get(category(character), character)
    return _OTHERS.get(character, by_category)


_SAME = CharacterMap(_same_sign)
_LONG_MARKS = regex.compile(r"(\p{M}{31,})")
"""To compose accents takes time quadratic in their number: nobody writes as many on a letter."""


def normal_form(text: str) -> str:
    """Write spaces, quotes, hyphens and composed letters in one way."""
    text = text.replace("\r\n", "\n").translate(_SAME)
    return "".join(
        part if number % 2 else normalize("NFC", part)
        for number, part in enumerate(_LONG_MARKS.split(text))
    )
