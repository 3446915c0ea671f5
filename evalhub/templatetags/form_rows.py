from typing import Any

from django import template
from django.template.context import Context
from django.utils.safestring import SafeString, mark_safe

from evalhub.admin_site.form_rows import form_counts_of, lines_of, shown_rows_of, table_rows_of
from evalhub.admin_site.form_stacks import stacked_rows_of, tabs_of
from evalhub.admin_site.page_tabs import number_of_rows, tab_links_of

register = template.Library()


@register.simple_tag(takes_context=True)
def form_lines(context: Context, fieldset: Any) -> SafeString:
    return lines_of(fieldset, context.get("has_conditional_display") or {})


@register.simple_tag(takes_context=True)
def form_tabs(context: Context, form: Any) -> SafeString:
    return tabs_of(form, context.get("has_conditional_display") or {})


@register.simple_tag
def form_counts(formset: Any) -> SafeString:
    return form_counts_of(formset)


@register.simple_tag
def form_stacked_rows(formset: Any) -> SafeString:
    return stacked_rows_of(formset)


@register.simple_tag
def form_table_rows(formset: Any) -> SafeString:
    return table_rows_of(formset)


@register.simple_tag
def shown_rows(formset: Any) -> SafeString:
    return shown_rows_of(formset)


@register.simple_tag(takes_context=True)
def page_tabs(context: Context) -> SafeString:
    form, inlines = context.get("adminform"), context.get("inline_admin_formsets") or ()
    return tab_links_of(form, inlines) if form else mark_safe("")


@register.simple_tag
def form_table_count(formset: Any) -> int:
    return number_of_rows(formset)
