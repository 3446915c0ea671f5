"""A test in few words, for lists."""

from typing import Any

from django.utils.text import Truncator

LENGTH = 90


def first_words(messages: Any) -> str:
    """How the first user's message begins, or whatever stands there instead."""
    turns = [turn for turn in messages if isinstance(turn, dict)] if messages else []
    said = [turn for turn in turns if turn.get("role") == "user"] or turns
    text = str(said[0].get("content") or "") if said else ""
    return Truncator(" ".join(text.split())).chars(LENGTH) or "(no message)"
