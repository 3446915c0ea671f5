"""Prompts of promptfoo: texts with variables, or chats as JSON. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from runs.importers.formats.records import as_text, object_of

VARIABLE = re.compile(r"\{\{-?\s*([\w.]+)\s*-?\}\}")
TEMPLATE = re.compile(r"\{%|\{\{|\{#")


def rendered(prompt: str, values: Mapping[str, Any]) -> str | None:
    """Return the text with its variables filled in; None if it has other template features."""
    missing = []

    def value_of(match: re.Match[str]) -> str:
        value: Any = values
        for step in match[1].split("."):
            value = object_of(value).get(step)
        if value is None:
            missing.append(match[1])
        return _printed(value)

    plain = VARIABLE.sub("", prompt)
    if TEMPLATE.search(plain):
        return None
    text = VARIABLE.sub(value_of, prompt)
    return None if missing else text


def _printed(value: Any) -> str:
    """Return a value as promptfoo's templates print it: the items of a list between commas."""
    return ",".join(map(_printed, value)) if isinstance(value, list) else as_text(value)
