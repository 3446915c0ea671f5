"""Schedules that forms propose."""

from typing import Any

from django import template

from evalhub.schedules import DEFAULT, SUGGESTED, in_words

register = template.Library()


@register.simple_tag
def default_schedule() -> str:
    return DEFAULT


@register.simple_tag
def schedule_choices() -> list[tuple[str, str]]:
    """Return the suggestions with their words, the default first."""
    ordered = (DEFAULT, *(cron for cron in SUGGESTED if cron != DEFAULT))
    return [(cron, in_words(cron)) for cron in ordered]


@register.inclusion_tag("evalhub/suggested_schedules.html")
def suggested_schedules(list_id: str) -> dict[str, Any]:
    """Render the suggestions for an input whose `list` is `list_id`."""
    return {"list_id": list_id, "options": [(cron, in_words(cron)) for cron in SUGGESTED]}
