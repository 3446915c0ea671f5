"""One form of texts that look the same, in which checks compare them. Pure."""

from unicodedata import normalize

import regex

_SAME = str.maketrans(
    {
        **dict.fromkeys("\xa0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009", " "),
        **dict.fromkeys("\u200a\u202f\u205f", " "),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\xb4\uff07", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\uff02", '"'),
        # Not the em dash: whether an answer has one is what some checks ask.
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-"),
        # Soft hyphens, and what has no width.
        **dict.fromkeys("\xad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
        **{"\u2026": "...", "\u2028": "\n", "\u2029": "\n"},
        **{sign: normalize("NFKC", sign) for sign in "\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06"},
    }
)
_LONG_MARKS = regex.compile(r"(\p{M}{31,})")
"""To compose accents takes time quadratic in their number: nobody writes as many on a letter."""


def normal_form(text: str) -> str:
    """Write spaces, quotes, hyphens and composed letters in one way."""
    text = text.replace("\r\n", "\n").translate(_SAME)
    return "".join(
        part if number % 2 else normalize("NFC", part)
        for number, part in enumerate(_LONG_MARKS.split(text))
    )
