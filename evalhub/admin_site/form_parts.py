"""The parts of a form's page, made once a page.

Django and the theme make all fieldsets, lines and fields anew whenever a template walks them, which
is up to six times, and ask a read-only field for its value five times.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

from django.contrib.admin import helpers
from django.contrib.admin.widgets import AutocompleteMixin
from django.db.models import Model
from django.forms import ModelMultipleChoiceField
from django.forms.formsets import BaseFormSet
from unfold import fields, forms


def keep_parts() -> None:
    kinds = (
        *(forms.AdminForm, forms.Fieldset, forms.Fieldline),
        *(helpers.InlineAdminFormSet, helpers.InlineAdminForm, helpers.InlineFieldset),
    )
    for kind in kinds:
        kind.__iter__ = _kept(kind.__iter__)  # type: ignore[method-assign]
    read_only = fields.UnfoldAdminReadonlyField
    read_only.__init__ = helpers.AdminReadonlyField.__init__
    _keep(read_only, "resolved_field", read_only._resolve_field)
    _keep(read_only, "contents", read_only.contents)
    _keep(BaseFormSet, "empty_form", vars(BaseFormSet)["empty_form"].fget)
    AutocompleteMixin.optgroups = _chosen_options  # type: ignore[method-assign,assignment]
    several: Any = ModelMultipleChoiceField
    several.prepare_value = _remembered(several.prepare_value)


def _keep(kind: type, name: str, made: Callable[[Any], Any]) -> None:
    kept = cached_property(made)
    kept.__set_name__(kind, name)
    setattr(kind, name, kept)


def _kept(parts_of: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    def parts(whole: Any) -> Iterator[Any]:
        if "parts" not in vars(whole):
            whole.parts = list(parts_of(whole))
        return iter(whole.parts)

    return parts


def _chosen_options(widget: Any, name: str, sent: Any, attrs: Any = None) -> list[Any]:
    """Return the options of an autocomplete, which are those chosen; a field may have hundreds.

    They differ by value and label: one is made, and the others are copies of it. Rows whose
    queryset has `names` are not made.
    """
    chosen = {str(each) for each in sent} - {"", "None"}
    relation = widget.field.remote_field
    key = getattr(relation, "field_name", relation.model._meta.pk.attname)
    key = relation.model._meta.get_field(key).attname
    options = []
    if not widget.is_required and not widget.allow_multiple_selected:
        options.append(widget.create_option(name, "", "", False, 0))
    made = widget.create_option(name, "", "", True, 0)
    if not chosen:
        return [(None, options, 0)]
    for value, label in _names_of(widget, key, chosen):
        options.append({**made, "value": value, "label": label, "index": str(len(options))})
    return [(None, options, 0)]


def _names_of(widget: Any, key: str, chosen: set[str]) -> Iterable[tuple[Any, str]]:
    field, every = widget.choices.field, widget.choices.queryset
    rows = every.using(widget.db).filter(**{f"{key}__in": chosen})
    if hasattr(rows, "names"):
        return rows.names()  # type: ignore[no-any-return]
    known = getattr(field, "known", {})
    if known.keys() == chosen and not every.query.has_filters():
        rows = known.values()
    return ((getattr(row, key), field.label_from_instance(row)) for row in rows)


def know(field: Any, rows: Iterable[Any]) -> None:
    """Let a field name these rows, which are read already, without reading them again."""
    field.known = {str(field.prepare_value(row)): row for row in rows}


def _remembered(keys_of: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let a field of several rows know those that are its value."""

    def keys(field: Any, value: Any) -> Any:
        found = keys_of(field, value)
        if isinstance(found, list):
            pairs = zip(found, value, strict=False)
            field.known = {str(key): row for key, row in pairs if isinstance(row, Model)}
        return found

    return keys
