"""Quoting of values in explanations and problems: short, and in quotes."""

import json
from collections.abc import Iterable
from typing import Any

LONGEST = 80


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return the text, or its beginning with an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def quoted(text: str) -> str:
    return f"“{shortened(text)}”"


def quoted_all(texts: Iterable[str], most: int = 5) -> str:
    """Quote up to five texts, and count the rest."""
    texts = list(texts)
    more = [f"{len(texts) - most} more"] if len(texts) > most else []
    return ", ".join([*map(quoted, texts[:most]), *more])


def shown(value: Any) -> str:
    """Return a value as JSON, shortened."""
    try:
        return shortened(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return shortened(object.__repr__(value))
