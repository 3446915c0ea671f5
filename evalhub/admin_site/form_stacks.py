"""Fieldsets below each other: in tabs of a form, and of the rows of an inline.

The theme's templates for these include up to eight others for each.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst, slugify

from evalhub.admin_site.form_rows import TEMPLATES, lines_of

HEADING = (
    "border-b border-base-200 border-t border-dashed font-semibold text-font-important-light px-3"
    " py-4.5 dark:text-font-important-dark dark:border-base-800"
)
TABS = (
    "bg-base-100 cursor-pointer flex flex-col font-medium gap-1 m-2 p-1 rounded-default"
    " text-important dark:border-base-700 md:inline-flex md:flex-row md:w-auto dark:bg-white/[.06]"
    " *:flex *:flex-row *:gap-1 *:items-center *:px-2.5 *:py-[5px] *:rounded-default"
    " *:hover:bg-base-700/[.06] *:dark:hover:bg-white/[.06] [&>.active]:bg-white"
    " [&>.active]:shadow-xs [&>.active]:dark:bg-base-700 [&>.active]:hover:bg-white"
    " [&>.active]:dark:hover:bg-base-700"
)
LINE = "border-b border-base-200 border-dashed dark:border-base-800"
COUNT = (
    "bg-red-500 inline-flex font-semibold items-center justify-center leading-none rounded-full w-4"
    " h-4 text-white relative text-center text-[11px] whitespace-nowrap uppercase"
)
FRAME = "form-rows aligned border border-base-200 rounded-default shadow-xs dark:border-base-800"
ROW = "form-group has-[.delete:checked]:[&>.form-delete]:block relative group/parent"
FORM = "form-row border-b border-base-200 dark:border-base-800 group-[.last]/parent:border-b-0"
TITLE = (
    "group/title border-base-200 flex font-semibold items-center px-3 py-2 text-sm"
    " dark:border-base-800 border-b"
)
NAME = (
    "flex items-center font-semibold mr-auto text-font-important-light"
    " dark:text-font-important-dark"
)


def tabs_of(form: Iterable[Any], conditions: Mapping[str, str]) -> SafeString:
    """Return the fieldsets of a form that are tabs; the last with an error is open, or the first.

    Args:
        conditions: As those of `lines_of`.
    """
    tabs = [one for one in form if "tab" in one.classes and one.name]
    if not tabs:
        return mark_safe("")
    slugs = [escape(slugify(str(one.name), allow_unicode=True)) for one in tabs]
    wrong = [_errors_in(one) for one in tabs]
    shown = next((slug for slug, n in reversed([*zip(slugs, wrong, strict=True)]) if n), slugs[0])
    links = "".join(map(_tab, tabs, slugs, wrong))
    parts = "".join(
        f'<div class="tab-wrapper fieldset-{slug}" x-show="activeFieldsetTab == \'{slug}\'">'
        f"{_fieldset(one, conditions)}</div>"
        for one, slug in zip(tabs, slugs, strict=True)
    )
    return mark_safe(
        f'<div class="{FRAME}" x-data="{{ activeFieldsetTab: \'{shown}\'}}"'
        f' x-show="activeTab == \'general\'"><div class="{LINE}"><nav class="{TABS}">{links}'
        f"</nav></div>{parts}</div>"
    )


def _tab(fieldset: Any, slug: str, errors: int) -> str:
    count = f'<span data-testid="error-count" class="{COUNT}">{errors}</span>' if errors else ""
    return (
        f'<a x-on:click="activeFieldsetTab = \'{slug}\'" x-bind:class="activeFieldsetTab == '
        f"'{slug}' && 'active'\">{conditional_escape(fieldset.name)}{count}</a>"
    )


def _errors_in(fieldset: Any) -> int:
    fields = (field for line in fieldset for field in line if not field.is_readonly)
    return sum(bool(field.errors()) for field in fields)


def _fieldset(fieldset: Any, conditions: Mapping[str, str]) -> str:
    heading = told = ""
    if fieldset.name and "tab" not in fieldset.classes:
        heading = f'<h2 class="{HEADING}">{conditional_escape(fieldset.name)}</h2>'
    if fieldset.description:
        told = f'<div class="leading-relaxed mb-4 max-w-4xl text-sm">{fieldset.description}</div>'
    return (
        f'<fieldset class="module relative {fieldset.classes}">{heading}{told}'
        f'<div class="form-rows aligned">{lines_of(fieldset, conditions)}</div></fieldset>'
    )


def stacked_rows_of(formset: Any) -> SafeString:
    """Return the rows of a stacked inline, the last of which is a template if rows can be added."""
    forms = list(formset)
    adds = formset.has_add_permission
    rows = []
    for place, form in enumerate(forms, start=1):
        css = "original" if form.original or form.show_url else "template"
        css += " empty-form" if adds and place == len(forms) else ""
        css += " last" if adds and place == len(forms) - 1 else ""
        rows.append(f'<div x-sort:item class="{ROW} {css}">{_row(formset, form, place)}</div>')
    return mark_safe("".join(rows))


def _row(formset: Any, form: Any, place: int) -> str:
    deletes = formset.formset.can_delete and formset.has_delete_permission
    title = _title(formset, form, place) if deletes or not formset.opts.hide_title else ""
    css = FORM if title else f"{FORM} pt-3"
    fieldsets = "".join(_fieldset(fieldset, {}) for fieldset in form)
    undo = foot = ""
    if form.original:
        undo = _part("inline_delete_undo", formset, form) if deletes else ""
        undo = f'<div class="hidden form-delete">{undo}</div>'
    if form.needs_explicit_pk_field():
        foot += str(form.pk_field().field)
    if foreign := form.fk_field():
        foot += str(foreign.field)
    return f'<div class="{css}">{title}{fieldsets}</div>{undo}{foot}'


def _title(formset: Any, form: Any, place: int) -> str:
    links = ""
    if form.original:
        name = getattr(form.original, "get_inline_title", lambda: "")() or form.original
        name = conditional_escape(str(name))
        links = _part("inline_links", formset, form)
    else:
        name = conditional_escape(capfirst(str(formset.opts.verbose_name)))
        name += f': #<span class="stacked-counter">{place}</span>'
    deletes = formset.formset.can_delete and formset.has_delete_permission
    delete = _part("inline_delete", formset, form) if deletes else ""
    return (
        f'<h3 class="{TITLE}"><span class="{NAME}"><strong class="font-semibold select-none">'
        f'{name}</strong>{links}</span><div class="-my-1 -mr-1.5">{delete}</div></h3>'
    )


def _part(name: str, formset: Any, form: Any) -> str:
    context = {"inline_admin_formset": formset, "inline_admin_form": form}
    return render_to_string(f"{TEMPLATES}/{name}.html", context)
