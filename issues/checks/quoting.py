"""How values read in explanations and problems: short, and in quotes."""

import json
from collections.abc import Iterable
from typing import Any

LONGEST = 80


def shortened(text: str, longest: int = LONGEST) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def quoted(text: str) -> str:
    return f"“{shortened(text)}”"


def quoted_all(texts: Iterable[str], most: int = 5) -> str:
    """At most five of them, and how many more there are."""
    texts = list(texts)
    more = [f"{len(texts) - most} more"] if len(texts) > most else []
    return ", ".join([*map(quoted, texts[:most]), *more])


def shown(value: Any) -> str:
    """Any value as JSON would have it."""
    try:
        return shortened(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return shortened(object.__repr__(value))


def share(found: int, asked: int) -> str:
    return f"{found} of {asked}"
