"""A filter of a list or a report, in a row of others: it applies when it is chosen."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django import forms


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
    select = forms.Select({"class": "eh-input", "data-eh-submit": ""}, choices)
    control = select.render(name, chosen, {"id": f"filter-{name}"})
    return Chip(name, title, control, f"filter-{name}", cleared=cleared)
