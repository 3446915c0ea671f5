"""Signs of a text that are not seen, or that turn its order round, made visible."""

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
