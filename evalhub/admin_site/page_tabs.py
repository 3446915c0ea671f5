"""The links to the tabs of a form's page: the form, and its inlines that are tabs.

The theme's templates include two others for each.
"""

from collections.abc import Iterable
from html import escape
from typing import Any

from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst, slugify

LINKS = (
    "bg-base-100 flex flex-row font-medium gap-1 p-1 rounded-default text-important md:w-auto"
    " *:flex *:flex-row *:gap-1 *:font-medium *:whitespace-nowrap *:items-center *:px-2.5"
    " *:py-[5px] *:rounded-default *:hover:bg-base-700/[.06] dark:bg-white/[.06]"
    " *:dark:hover:bg-white/[.06] [&>.active]:bg-white [&>.active]:shadow-xs"
    " [&>.active]:dark:bg-base-700 [&>.active]:hover:bg-white [&>.active]:dark:hover:bg-base-700"
)
OPENER = (
    "group border border-base-200 flex cursor-pointer h-[38px] w-[38px] items-center"
    " justify-center rounded-default select-none dark:border-base-700"
)
SIGN = (
    "material-symbols-outlined text-base-400 group-hover:text-primary-600"
    " dark:group-hover:text-primary-500"
)
MENU = (
    "absolute bg-white border border-base-200 flex flex-col -mr-px py-1 right-0 rounded-default"
    " shadow-lg top-10 w-52 z-50 dark:bg-base-800 dark:border-base-700 *:max-h-[30px] *:flex"
    " *:flex-row *:items-center *:mx-1 *:px-3 *:py-2 *:rounded-default *:text-left"
    " *:hover:bg-base-100 *:hover:text-base-700 *:dark:hover:bg-base-700"
    " *:dark:hover:text-base-200"
)
MORE = (
    '<div class="hidden ml-2 relative" x-data="{ openTabsDropdown: false }">'
    f'<div class="{OPENER}" x-on:click="openTabsDropdown = !openTabsDropdown"><span class="{SIGN}"'
    " x-bind:class=\"{'text-primary-600 dark:text-primary-500': openTabsDropdown}\">more_horiz"
    f'</span></div><nav id="tabs-dropdown" class="{MENU}" x-show="openTabsDropdown" x-transition>'
    "</nav></div>"
)
ERRORS = (
    "bg-red-500 inline-flex font-semibold items-center justify-center leading-none rounded-full"
    " w-4 h-4 text-white relative text-center text-[11px] whitespace-nowrap uppercase"
)
ROWS = (
    "inline-block font-semibold rounded-default text-[11px] uppercase whitespace-nowrap h-5"
    " leading-5 px-1.5 bg-base-500/8 text-base-700 dark:bg-base-500/20 dark:text-base-200"
)


def tab_links_of(form: Any, inlines: Iterable[Any]) -> SafeString:
    """Return the links, with the numbers of rows and of forms with errors; "" without tabs."""
    every = list(inlines)
    tabs = [inline for inline in every if getattr(inline.opts, "tab", False)]
    if not tabs:
        return mark_safe("")
    wrong = len(form.errors) + len(form.non_field_errors())
    wrong += sum(_wrong_forms(inline) for inline in every if inline not in tabs)
    links = _link("general", "General", _errors(wrong)) + "".join(map(_link_of, tabs))
    return mark_safe(
        '<div id="tabs-wrapper" class="flex items-start flex-col mb-4 md:flex-row'
        ' md:items-center"><div class="flex flex-row grow">'
        f'<nav id="tabs-items" class="{LINKS}">{links}</nav>{MORE}</div></div>'
    )


def _link_of(inline: Any) -> str:
    options = inline.opts
    name = options.verbose_name if inline.formset.max_num == 1 else options.verbose_name_plural
    rows = ""
    if getattr(options, "show_count", False):
        rows = f'<span class="{ROWS}">{number_of_rows(inline.formset)}</span>'
    slug = escape(slugify(inline.formset.prefix))
    shown = rows + _errors(_wrong_forms(inline))
    return _link(slug, conditional_escape(capfirst(str(name))), shown)


def _link(slug: str, name: str, counts: str) -> str:
    return (
        f'<a href="#{slug}" x-on:click="activeTab = \'{slug}\'"'
        f" x-bind:class=\"{{'active': activeTab == '{slug}'}}\">{name} {counts}</a>"
    )


def _errors(number: int) -> str:
    return f'<span class="{ERRORS}">{number}</span>' if number else ""


def _wrong_forms(inline: Any) -> int:
    return sum(isinstance(errors, dict) and bool(errors) for errors in inline.formset.errors)


def number_of_rows(formset: Any) -> int:
    """Return the number of an inline's saved rows, on all its pages, without a query of its own."""
    paginator = getattr(formset, "paginator", None)
    return int(paginator.count) if paginator else len(formset.get_queryset())
