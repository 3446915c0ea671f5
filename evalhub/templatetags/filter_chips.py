"""The filters of a list of the admin as chips: each applies when it is chosen."""

from collections.abc import Mapping
from typing import Any

from django import forms, template
from django.contrib.admin.views.main import ChangeList
from django.template.context import Context
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from django.utils.text import capfirst

from evalhub.display.filter_chip import Chip, choice_chip

register = template.Library()

PAGING = {"p", "e", "all"}


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
        taken = [str(choice["display"]) for choice in choices if choice["selected"]]
        return Chip("", title, menu=[*map(_link, choices)], values=taken, cleared=cleared)
    if len(form.fields) == 1:
        ((name, field),) = form.fields.items()
        if isinstance(field, forms.ChoiceField) and not isinstance(field, forms.ModelChoiceField):
            return choice_chip(name, title, field.choices, form.data.get(name), cleared)
    menu = [str(form.media), *map(str, form)]
    return Chip("", title, menu=menu, cleared=cleared)


def _link(choice: Mapping[str, Any]) -> str:
    """Return a choice that the admin gives as an address."""
    current = mark_safe(' aria-current="true"') if choice["selected"] else ""
    html = '<a class="eh-link" href="{}"{}>{}</a>'
    return format_html(html, choice["query_string"], current, choice["display"])
