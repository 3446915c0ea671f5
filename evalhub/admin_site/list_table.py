"""The rows of an admin's list.

The theme writes thirty classes on every cell, and computes all headings anew for every row: that
was most of a list's time and size. Here one rule of the style sheet holds for all cells.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from html import escape
from typing import Any

from django.contrib.admin.templatetags.admin_urls import add_preserved_filters
from django.contrib.admin.utils import lookup_field
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import DateField, ForeignKey, TimeField
from django.urls import NoReverseMatch
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from unfold.utils import display_for_field, display_for_label, display_for_value

CHECKBOX = "action_checkbox"


@dataclass(frozen=True)
class Column:
    """A column of a list.

    Attributes:
        name: As in the admin's `list_display`: of a field or method, or a function.
        tag: `th` if its cells name their rows.
        is_linked: Whether its cells lead to the row's page.
    """

    name: Any
    label: str
    css: str
    tag: str
    is_linked: bool
    _drawn: dict[Any, str] = field(default_factory=dict)

    def cell(self, row: Any, admin: Any, link: str) -> str:
        text, is_short = self._text(row, admin)
        html: str = conditional_escape(text)
        if link and self.is_linked:
            html = f"{link}{html}</a>"
        css = f"{self.css} nowrap" if is_short else self.css
        return f'<{self.tag} class="{css}" data-label="{self.label}">{html}</{self.tag}>'

    def _text(self, row: Any, admin: Any) -> tuple[Any, bool]:
        """Return what a row shows here, and whether it stays on one line."""
        empty = admin.get_empty_value_display()
        try:
            own, attribute, value = lookup_field(self.name, row, admin)
        except ObjectDoesNotExist:
            return empty, False
        if own is None or own.auto_created:
            empty = getattr(attribute, "empty_value_display", empty)
            return self._value(attribute, value, empty), isinstance(value, date | time)
        is_short = isinstance(own, DateField | TimeField | ForeignKey)
        if isinstance(own, ForeignKey):
            return empty if value is None else value, is_short
        return display_for_field(value, own, empty), is_short

    def _value(self, attribute: Any, value: Any, empty: str) -> str:
        label = getattr(attribute, "label", False)
        is_sign = getattr(attribute, "boolean", False)
        if not label and not is_sign:
            return str(display_for_value(value, empty))
        key = tuple(value) if isinstance(value, list) else value
        if key not in self._drawn:  # a template for each, of which there are few
            drawn = display_for_label(value, empty, label) if label else ""
            self._drawn[key] = drawn or display_for_value(value, empty, boolean=True)
        return self._drawn[key]


def columns_of(changelist: ChangeList, headings: Sequence[Any]) -> Iterator[Column]:
    linked: Any = changelist.list_display_links or ()
    tag = "th"
    for name, heading in zip(changelist.list_display, headings, strict=True):
        plain = name if isinstance(name, str) else name.__name__
        is_linked = name in linked
        is_checkbox = plain == CHECKBOX
        yield Column(
            name=name,
            label="Select record" if is_checkbox else escape(str(heading["text"])),
            css="action-checkbox" if is_checkbox else f"field-{plain}",
            tag=tag if is_linked else "td",
            is_linked=is_linked,
        )
        tag = "td" if is_linked else tag


def rows_of(changelist: ChangeList, headings: Sequence[Any]) -> Iterator[SafeString]:
    """Yield the HTML of each row."""
    columns = list(columns_of(changelist, headings))
    admin, query = changelist.model_admin, None
    for row in changelist.result_list:
        link = ""
        if any(column.is_linked for column in columns):
            url = _url(changelist, row)
            if query is None:  # the same for all rows
                query = _filters(changelist, url)
            opener = f' data-popup-opener="{_popup_value(changelist, row)}"'
            link = f'<a href="{escape(url + query)}"{opener if changelist.is_popup else ""}>'
            link = link if url else ""
        cells = "".join(column.cell(row, admin, link) for column in columns)
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
