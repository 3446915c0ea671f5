from typing import Any

from django import template
from django.template.context import Context
from django.utils.safestring import SafeString

from evalhub.admin_site.form_rows import lines_of, shown_rows_of, table_rows_of
from evalhub.admin_site.form_stacks import stacked_rows_of, tabs_of

register = template.Library()


@register.simple_tag(takes_context=True)
def form_lines(context: Context, fieldset: Any) -> SafeString:
    return lines_of(fieldset, context.get("has_conditional_display") or {})


@register.simple_tag(takes_context=True)
def form_tabs(context: Context, form: Any) -> SafeString:
    return tabs_of(form, context.get("has_conditional_display") or {})


@register.simple_tag
def form_stacked_rows(formset: Any) -> SafeString:
    return stacked_rows_of(formset)


@register.simple_tag
def form_table_rows(formset: Any) -> SafeString:
    return table_rows_of(formset)


@register.simple_tag
def shown_rows(formset: Any) -> SafeString:
    return shown_rows_of(formset)


@register.simple_tag
def form_table_count(formset: Any) -> int:
    """Return the number of an inline's saved rows, on all its pages, without a query of its own."""
    paginator = getattr(formset, "paginator", None)
    return int(paginator.count) if paginator else len(formset.get_queryset())
