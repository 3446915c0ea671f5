"""A filter of a list or a report, in a row of others: it applies when it is chosen."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from django.forms.utils import flatatt
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe


class Chip(NamedTuple):
    """A field with its title, or a menu of several fields or links.

    Attributes:
        name: Its parameter.
        control: The field as HTML; "" for a menu.
        id: Of the field.
        menu: The parts of a menu as HTML.
        values: What is chosen in a menu, in words.
        cleared: The query without it, from "?"; "" if its default is chosen.
    """

    name: str
    title: str
    control: str = ""
    id: str = ""
    menu: Sequence[str] = ()
    values: Sequence[str] = ()
    cleared: str = ""
    help: str = ""
    is_wrong: bool = False

    @property
    def summary(self) -> str:
        if len(self.values) > 1:
            return f"{len(self.values)} chosen"
        return self.values[0] if self.values else "All"


def choice_chip(name: str, title: str, choices: Any, chosen: Any, cleared: str) -> Chip:
    """Return a filter by one choice, given as pairs of value and text."""
    attributes = {"id": f"filter-{name}", "class": "eh-input", "data-eh-submit": ""}
    control = select(name, choices, chosen, attributes)
    return Chip(name, title, control, f"filter-{name}", cleared=cleared)


def select(
    name: str, choices: Iterable[tuple[Any, Any]], chosen: Any, attributes: Mapping[str, Any]
) -> SafeString:
    """Render a choice of one; the widget of a form would render two templates per option."""
    wanted = "" if chosen is None else str(chosen)
    options = (("" if value is None else str(value), text) for value, text in choices)
    written = "".join(
        f'<option value="{escape(value)}"{" selected" if value == wanted else ""}>'
        f"{conditional_escape(text)}</option>"
        for value, text in options
    )
    start = f'<select name="{escape(name)}"{flatatt(dict(attributes))}>'
    return mark_safe(f"{start}{written}</select>")
