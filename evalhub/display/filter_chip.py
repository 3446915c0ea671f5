"""A filter of a list or a report, in a row of others: it applies when it is chosen."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.forms import BoundField


class Chip(NamedTuple):
    """A field, a choice of one, or a menu; `evalhub/chip.html` draws it.

    Attributes:
        name: Its parameter; "" for a menu of several or of links.
        choices: Value and text of each, to choose one; None for another kind of chip.
        chosen: The value chosen among them.
        menu: Fields or boxes.
        links: Choices as the admin's filters give them, with their addresses.
        values: What is chosen in a menu, in words.
        cleared: The query without it, from "?"; "" if its default is chosen.
    """

    name: str
    title: str
    field: BoundField | None = None
    choices: Sequence[tuple[str, Any]] | None = None
    chosen: str = ""
    menu: Sequence[Any] = ()
    links: Sequence[Mapping[str, Any]] = ()
    values: Sequence[str] = ()
    cleared: str = ""
    help: str = ""
    is_wrong: bool = False

    @property
    def summary(self) -> str:
        if len(self.values) > 1:
            return f"{len(self.values)} chosen"
        return self.values[0] if self.values else "All"


def choice_chip(
    name: str, title: str, choices: Iterable[tuple[Any, Any]], chosen: Any, cleared: str
) -> Chip:
    options = [(_as_text(value), text) for value, text in choices]
    return Chip(name, title, choices=options, chosen=_as_text(chosen), cleared=cleared)


def _as_text(value: Any) -> str:
    return "" if value is None else str(value)
