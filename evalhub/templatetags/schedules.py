"""Schedules that forms propose."""

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

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


@register.simple_tag
def suggested_schedules(list_id: str) -> SafeString:
    """Render the suggestions for an input whose `list` is `list_id`."""
    options = ((cron, in_words(cron)) for cron in SUGGESTED)
    rendered = format_html_join("", '<option value="{}">{}</option>', options)
    return format_html('<datalist id="{}">{}</datalist>', list_id, rendered)
