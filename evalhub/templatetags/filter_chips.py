"""The filters of a list of the admin as chips: each applies when it is chosen."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django import forms, template
from django.contrib.admin.views.main import ChangeList
from django.template.context import Context
from django.utils.text import capfirst

register = template.Library()

PAGING = {"p", "e", "all"}


class Chip(NamedTuple):
    """A filter of a list.

    Attributes:
        name: Its parameter, where it is one choice of a form.
        options: Pairs of value and text of that choice, and whether it is taken.
        links: Choices that the admin gives as addresses: text, query, and whether it is taken.
        form: Any other form.
        cleared: The query without it; "" if nothing is chosen.
    """

    title: str
    name: str
    options: list[tuple[str, str, bool]]
    links: list[tuple[str, str, bool]]
    form: forms.Form | None
    cleared: str

    @property
    def value(self) -> str:
        """The text of the chosen link."""
        return next((text for text, _, is_taken in self.links if is_taken), "")


@register.inclusion_tag("evalhub/filter_chips.html", takes_context=True)
def filter_chips(context: Context, changelist: ChangeList) -> dict[str, Any]:
    chips = [_chip(changelist, spec) for spec in changelist.filter_specs]
    own = {name for spec in changelist.filter_specs for name in spec.expected_parameters() if name}
    query = context["request"].GET
    may_change = changelist.model_admin.has_change_permission(context["request"])
    kept = [
        (name, value)
        for name, values in query.lists()
        for value in values
        if name not in own | PAGING
    ]
    cleared = changelist.clear_all_filters_qs if changelist.has_active_filters else ""
    quick = _quick(changelist, query) if may_change else []
    return {"quick": quick, "chips": chips, "kept": kept, "cleared": cleared}


def _quick(changelist: ChangeList, query: Mapping[str, str]) -> list[tuple[str, str, bool]]:
    """Return text, query and whether it is taken of the filters by one click, one at a time."""
    every = getattr(changelist.model_admin, "quick_filters", ())
    names = {name for _, wanted in every for name in wanted}
    now = {name: query[name] for name in names if query.get(name)}
    return [
        (
            text,
            changelist.get_query_string({} if now == wanted else wanted, remove=[*names]),
            now == wanted,
        )
        for text, wanted in every
    ]


def _chip(changelist: ChangeList, spec: Any) -> Chip:
    names = [name for name in spec.expected_parameters() if name]
    is_set = any(changelist.params.get(name) for name in names)
    cleared = changelist.get_query_string(remove=names) if is_set else ""
    choices = list(spec.choices(changelist))
    title = capfirst(str(spec.title))
    form = choices[0].get("form") if choices else None
    if form is None:
        links = [(str(c["display"]), c["query_string"], bool(c["selected"])) for c in choices]
        return Chip(title, "", [], links, None, cleared)
    if len(form.fields) == 1:
        ((name, field),) = form.fields.items()
        if isinstance(field, forms.ChoiceField) and not isinstance(field, forms.ModelChoiceField):
            return Chip(title, name, _options(form, name, field), [], None, cleared)
    return Chip(title, "", [], [], form, cleared)


def _options(form: forms.Form, name: str, field: Any) -> list[tuple[str, str, bool]]:
    given: Any = form.data.get(name)
    taken: Sequence[Any] = given if isinstance(given, list | tuple) else [given]
    values = {str(value) for value in taken if value is not None}
    return [(str(value), str(text), str(value) in values) for value, text in field.choices]
