"""The rows of an admin's list.

The theme writes thirty classes on every cell, and computes all headings anew for every row: that
was most of a list's time and size. Here one rule of the style sheet holds for all cells.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from html import escape
from typing import Any

from django.contrib.admin.templatetags.admin_urls import add_preserved_filters
from django.contrib.admin.utils import (  # type: ignore[attr-defined]
    FieldIsAForeignKeyColumnName,
    _get_non_gfk_field,
)
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import FieldDoesNotExist, ObjectDoesNotExist
from django.db.models import DateField, ForeignKey, TimeField
from django.urls import NoReverseMatch
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst
from unfold.utils import display_for_field, display_for_label, display_for_value

CHECKBOX = "action_checkbox"


@dataclass(frozen=True)
class Column:
    """A column of a list.

    Attributes:
        name: As in the admin's `list_display`: of a field or method, or a function.
        tag: `th` if its cells name their rows.
        is_linked: Whether its cells lead to the row's page.
        own: The model's field, if it shows one.
        reads: Returns a row's value; an attribute of its rows says how that is shown.
        empty: Shown in place of None.
    """

    name: Any
    label: str
    css: str
    tag: str
    is_linked: bool
    own: Any
    reads: Callable[[Any], tuple[Any, Any]]
    empty: str
    _drawn: dict[Any, str] = field(default_factory=dict)

    def cell(self, row: Any, link: str) -> str:
        text, is_short = self._text(row)
        html = text if isinstance(text, SafeString) else escape(str(text))
        if link and self.is_linked:
            html = f"{link}{html}</a>"
        css = f"{self.css} nowrap" if is_short else self.css
        return f'<{self.tag} class="{css}" data-label="{self.label}">{html}</{self.tag}>'

    def _text(self, row: Any) -> tuple[Any, bool]:
        """Return what a row shows here, and whether it stays on one line."""
        try:
            value, attribute = self.reads(row)
        except ObjectDoesNotExist:
            return self.empty, False
        if self.own is None or self.own.auto_created:
            empty = getattr(attribute, "empty_value_display", self.empty)
            return self._value(attribute, value, empty), isinstance(value, date | time)
        is_short = isinstance(self.own, DateField | TimeField | ForeignKey)
        if isinstance(self.own, ForeignKey):
            return self.empty if value is None else value, is_short
        return display_for_field(value, self.own, self.empty), is_short

    def _value(self, attribute: Any, value: Any, empty: str) -> str:
        label = getattr(attribute, "label", False)
        is_sign = getattr(attribute, "boolean", False)
        if not label and not is_sign:
            return value if isinstance(value, str) else str(display_for_value(value, empty))
        key = tuple(value) if isinstance(value, list) else value
        if key not in self._drawn:  # a template for each, of which there are few
            drawn = display_for_label(value, empty, label) if label else ""
            self._drawn[key] = drawn or display_for_value(value, empty, boolean=True)
        return self._drawn[key]


def _own_field(admin: Any, name: Any) -> Any:
    """Return the model's field that a column shows; None if it shows something else."""
    try:
        return _get_non_gfk_field(admin.opts, name)
    except (FieldDoesNotExist, FieldIsAForeignKeyColumnName):
        return None


def _reader(admin: Any, name: Any, own: Any) -> Callable[[Any], tuple[Any, Any]]:
    """Return what reads a column's value, as Django's `lookup_field` finds it for each row."""
    if own is not None:
        return lambda row: (getattr(row, name), None)
    if callable(name):
        return lambda row: (name(row), name)
    if hasattr(admin, name) and name != "__str__":
        method = getattr(admin, name)
        return lambda row: (method(row), method)

    def attribute_of(row: Any) -> tuple[Any, Any]:
        found = getattr(row, name)
        return (found() if callable(found) else found), found

    return attribute_of


def columns_of(changelist: ChangeList, headings: Sequence[Any]) -> Iterator[Column]:
    linked: Any = changelist.list_display_links or ()
    admin, tag = changelist.model_admin, "th"
    for name, heading in zip(changelist.list_display, headings, strict=True):
        plain = name if isinstance(name, str) else name.__name__
        is_linked = name in linked
        is_checkbox, own = plain == CHECKBOX, _own_field(admin, name)
        yield Column(
            name=name,
            label="Select record" if is_checkbox else escape(str(heading["text"])),
            css="action-checkbox" if is_checkbox else f"field-{plain}",
            tag=tag if is_linked else "td",
            is_linked=is_linked,
            own=own,
            reads=_reader(admin, name, own),
            empty=admin.get_empty_value_display(),
        )
        tag = "td" if is_linked else tag


def rows_of(changelist: ChangeList, headings: Sequence[Any]) -> Iterator[SafeString]:
    """Yield the HTML of each row."""
    columns = list(columns_of(changelist, headings))
    query, leads = None, any(column.is_linked for column in columns)
    for row in changelist.result_list:
        link = ""
        if leads:
            url = _url(changelist, row)
            if query is None:  # the same for all rows
                query = _filters(changelist, url)
            opener = f' data-popup-opener="{_popup_value(changelist, row)}"'
            link = f'<a href="{escape(url + query)}"{opener if changelist.is_popup else ""}>'
            link = link if url else ""
        cells = "".join(column.cell(row, link) for column in columns)
        yield mark_safe(f'<tr class="data-row">{cells}</tr>')


def _url(changelist: ChangeList, row: Any) -> str:
    try:
        return str(changelist.url_for_result(row))
    except NoReverseMatch:
        return ""


def _filters(changelist: ChangeList, url: str) -> str:
    """Return the list's filters as the query of a row's address, for the way back."""
    kept: Any = {"preserved_filters": changelist.preserved_filters, "opts": changelist.opts}
    return str(add_preserved_filters(kept, url)).removeprefix(url)


def _popup_value(changelist: ChangeList, row: Any) -> str:
    name = changelist.to_field or changelist.lookup_opts.pk.attname
    return escape(str(row.serializable_value(name)))


HEADING = (
    "align-middle font-semibold py-2 text-left text-font-important-light"
    " dark:text-font-important-dark whitespace-nowrap"
)
TOGGLE = (
    "flex items-center leading-none text-base-400 hover:text-base-500 dark:text-base-500"
    " dark:hover:text-base-400 toggle"
)
REMOVE = (
    "sortremove flex items-center leading-none ml-1 text-base-400 dark:text-base-500"
    " transition-all hover:text-red-700 dark:hover:text-red-500"
)


def headings_of(headings: Sequence[Any]) -> SafeString:
    """Return the HTML of the headings, as the theme's template has it."""
    sorted_by = sum(bool(each.get("sorted")) for each in headings)
    return mark_safe("".join(_heading(each, sorted_by) for each in headings))


def _heading(heading: Any, sorted_by: int) -> str:
    is_toggle, further = "action-toggle" in heading["text"], ""
    text: str = heading["text"] if is_toggle else conditional_escape(capfirst(heading["text"]))
    if heading["sortable"]:
        text = f'<a href="{escape(heading["url_primary"])}">{text}</a>'
        further = _sort_options(heading, sorted_by) if heading["sort_priority"] > 0 else ""
    elif is_toggle:
        label = '<span class="block font-normal lg:hidden">Select all rows</span>'
        text = f'<label class="flex flex-row items-center gap-2">{text}{label}</label>'
    else:
        text = f"<span>{text}</span>"
    css = "lg:px-3 lg:w-10" if is_toggle else "hidden px-3 lg:table-cell"
    return (
        f'<th class="{HEADING} {heading["class_attrib"]} {css}" scope="col">'
        f'<div class="flex items-center"><div class="text">{text}</div>{further}</div></th>'
    )


def _sort_options(heading: Any, sorted_by: int) -> str:
    way, sign = ("ascending", "down") if heading["ascending"] else ("descending", "up")
    place = heading["sort_priority"]
    said = f'title="Sorting priority: {place}">{place}</span>'
    said = f'<span class="sortpriority font-medium ml-2 text-xs" {said}' if sorted_by > 1 else ""
    return (
        '<div class="sortoptions flex items-center ml-2">'
        f'<a href="{escape(heading["url_toggle"])}" class="{TOGGLE} {way}" title="Toggle sorting">'
        f'<span class="block material-symbols-outlined">arrow_circle_{sign}</span></a>'
        f'<a class="{REMOVE}" href="{escape(heading["url_remove"])}" title="Remove from sorting">'
        f'<span class="block material-symbols-outlined">cancel</span></a></div>{said}'
    )
