"""Judgments and their texts as template filters."""

from collections.abc import Mapping
from typing import Any

from django import template

from runs.figures.verdict_labels import extent_label, repaired_by, text_or_none
from runs.models import Judgment

register = template.Library()

register.filter("text", text_or_none)
register.filter("repaired_by", repaired_by)
register.filter("extent_label", extent_label)


@register.filter
def of(rows: Mapping[str, Any], key: str) -> Any:
    """Look up a row by a key that a variable holds; None if there is none."""
    return rows.get(key)


@register.filter
def extent(judgment: Judgment) -> str:
    """Label the extent that a judgment found: "mostly · 0.75"."""
    return extent_label(judgment.option, judgment.value)
