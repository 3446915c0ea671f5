"""The scored share of a run, for beside every pass rate that a page shows."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from runs.comparison.completeness import LEAST_IN_WORDS
from runs.figures.rate import Rate

register = template.Library()


@register.simple_tag
def scored_badge(rate: Rate) -> SafeString:
    """Render "20/20 scored", as a warning where that is too little; "" for other rates."""
    if rate.total is None:
        return SafeString()
    if rate.is_enough:
        shown = f' <small class="eh-muted eh-nowrap eh-num">{rate.scored_words}</small>'
        return mark_safe(shown)  # of numbers alone
    return format_html(
        ' <small class="eh-badge eh-badge--warning eh-num" title="Less than {} scored: what is '
        'missing is seldom a random part">{}</small>',
        LEAST_IN_WORDS,
        rate.scored_words,
    )
