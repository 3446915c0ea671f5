"""Signs of a text that are not seen, or that turn its order round, made visible. Pure."""

import re
import unicodedata
from html import escape

# Beside control, format and space signs: fillers, a blank Braille cell, variation selectors.
_FILLER = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_UNUSUAL = re.compile(r"[^\x20-\x7e\n\t]")
_CATEGORIES = {"Cc", "Cf", "Cn", "Co", "Zl", "Zp", "Zs"}


def with_hidden_signs(text: str) -> str:
    """Return a raw text as HTML in which each hidden sign is labelled with its code and name.

    The sign itself stays, for copying, but isolated: it turns nothing round any more.
    """
    return _UNUSUAL.sub(_labelled, escape(text))


def _labelled(found: re.Match[str]) -> str:
    sign = found[0]
    if unicodedata.category(sign) not in _CATEGORIES and not _FILLER.match(sign):
        return sign
    name = unicodedata.name(sign, "control character").lower()
    return f'<bdi class="eh-sign" data-sign="U+{ord(sign):04X}" title="{name}">{sign}</bdi>'


# Not those that scripts and emoji need: joiners, direction marks, the selectors of pictures.
_MISLEADING = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f\u200b\u202a-\u202e\u2060-\u2069\ufeff\u115f\u1160\u3164\uffa0"
    "\U000e0000-\U000e01ef]"
)


def misleading_signs(text: str) -> int:
    """Count the signs that can make a text look like another one."""
    return len(_MISLEADING.findall(text))
