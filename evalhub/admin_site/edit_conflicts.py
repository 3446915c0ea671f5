"""Pages that lose nobody's edit.

A page carries a digest of each field as it was shown. On saving, a field whose stored value has
another digest by then was changed by somebody else: nothing is saved, and both texts are shown.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.forms.boundfield import BoundField
from django.forms.formsets import BaseFormSet
from django.utils.text import capfirst
from django.utils.timezone import localtime

from evalhub.access.models import User

SEEN = "_seen"
"""Name of the hidden input with the digests."""
DIGITS = 10
MAX_RECORDS = 50
"""Records of a row's history in which a value that was shown is looked for."""


class Shown(NamedTuple):
    """A value as its input sends it, and its words; several for a choice of several rows."""

    values: list[str]
    text: str


@dataclass(frozen=True)
class Conflict:
    """A field that somebody else has changed since the page was opened.

    `name`: of its input; "" if the page has none. `is_touched`: the reader has changed it too;
    otherwise `mine` is what they saw, and an input now holds `theirs`.
    """

    name: str
    label: str
    theirs: Shown
    mine: Shown
    is_touched: bool

    @property
    def as_json(self) -> dict[str, Any]:
        """Return both values for a script that puts either into the form."""
        return {"name": self.name, "theirs": self.theirs.values, "mine": self.mine.values}


class VersionedForm(forms.BaseForm):
    """Mixin of a change form: refuses to overwrite what its reader has not seen."""

    seen: Mapping[str, str] = {}
    conflicts: list[Conflict] = []
    changed_by = "Somebody"

    def full_clean(self) -> None:
        self.conflicts = conflicts_of(self, self.seen)
        super().full_clean()
        if self.conflicts:
            self.add_error(None, refusal(self.changed_by))


class VersionedFormSet(BaseFormSet):
    """Mixin of the formset of an inline: refuses as `VersionedForm` does."""

    seen: Mapping[str, str] = {}
    conflicts: list[Conflict] = []
    changed_by = "Somebody"

    def full_clean(self) -> None:
        self.conflicts = [
            each for form in self.initial_forms for each in conflicts_of(form, self.seen)
        ]
        super().full_clean()

    def clean(self) -> None:
        super().clean()
        if self.conflicts:
            raise ValidationError(refusal(self.changed_by))


def versioned(base: Any, sent: Mapping[str, str], changed_by: str) -> Any:
    """Return a form or formset class with the digests sent; without any it checks nothing."""
    mixin = VersionedFormSet if issubclass(base, BaseFormSet) else VersionedForm
    attributes = {"seen": read_seen(sent), "changed_by": changed_by}
    return type(base)(base.__name__, (mixin, base), attributes)


def refusal(changed_by: str, then: str = "save") -> str:
    return (
        f"{changed_by}. Nothing was saved yet, and nothing you typed is lost: choose between the "
        f"texts below, then {then}."
    )


def last_change(row: Any, reader: User, after: str = "you opened it") -> str:
    """Return who changed the row last and when, such as "anna changed this at 10:42"."""
    latest = row.history.select_related("history_user").first() if hasattr(row, "history") else None
    if latest is None:
        return f"Somebody changed this after {after}"
    at = f"{localtime(latest.history_date):%H:%M}"
    if latest.history_user == reader:
        return f"You changed this in another tab at {at}"
    return f"{latest.history_user or 'An application'} changed this at {at}, after {after}"


def lock_row(row: Model) -> None:
    """Lock a row for the transaction, so that its version is checked against the last."""
    rows = type(row)._base_manager.select_for_update(of=("self",), no_key=True)
    rows.filter(pk=row.pk).first()


# Digests -----------------------------------------------------------------------------------------


def seen_in(form: Any, formsets: Iterable[Any]) -> str:
    """Return the digests of the stored values that a page shows, as its form sends them."""
    every = [form, *(each for formset in formsets for each in formset.initial_forms)]
    return json.dumps(
        {key: _digest(_unnamed(field)) for each in every for key, field in _fields(each)}
    )


def read_seen(sent: Mapping[str, str]) -> dict[str, str]:
    """Read the digests that a form sent; {} if they are missing or unreadable."""
    try:
        found = json.loads(sent.get(SEEN, "{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def conflicts_of(form: Any, seen: Mapping[str, str]) -> list[Conflict]:
    """Return the fields that were changed since; untouched ones take the stored value."""
    conflicts = []
    for key, field in _fields(form) if seen else ():
        theirs = _stored(field)
        mine = _shown(field, field.value())
        if not _is_stale(seen, key, theirs, mine):
            continue
        is_touched = seen[key] != _digest(mine)
        conflicts.append(Conflict(field.html_name, _label(form, field), theirs, mine, is_touched))
    untouched = [conflict for conflict in conflicts if not conflict.is_touched]
    if untouched:
        form.data = form.data.copy()
        for conflict in untouched:
            form.data.setlist(conflict.name, conflict.theirs.values)
    return conflicts


def _is_stale(seen: Mapping[str, str], key: str, theirs: Shown, mine: Shown | None) -> bool:
    """Tell whether somebody changed the value since, other than to what the reader wants."""
    ours = _digest(mine) if mine else ""
    return seen.get(key) is not None and _digest(theirs) not in (seen[key], ours)


def _fields(form: Any) -> Iterator[tuple[str, BoundField]]:
    """Yield the fields that a reader can change, each with a key that is the same next time."""
    row = f"{form.prefix.rpartition('-')[0]}/{form.instance.pk}/" if form.prefix else ""
    for name, field in form.fields.items():
        widget = _widget(field)
        is_secret = getattr(widget, "input_type", "") in ("password", "file")
        if not (field.disabled or widget.is_hidden or is_secret or name == "DELETE"):
            yield row + name, form[name]


def _label(form: Any, field: BoundField) -> str:
    label = str(field.label)
    if form.prefix:
        label = f"{form.instance._meta.verbose_name} “{form.instance}”: {label}"
    return label[:1].upper() + label[1:]


# Rows that a page shows without a form -----------------------------------------------------------


def seen_of(rows: Iterable[Any], fields: Collection[str]) -> str:
    """Return the digests of the rows' fields, as a page sends them."""
    return json.dumps(
        {_key(row, name): _digest(_raw(row, name)) for row in rows for name in fields}
    )


def conflicts_in(
    row: Any,
    fields: Iterable[str],
    seen: Mapping[str, str],
    mine: Mapping[str, Shown],
    inputs: Collection[str] = (),
) -> list[Conflict]:
    """Return the fields that were changed since.

    Args:
        mine: What the reader's act would save, by field; the others stay as they are.
        inputs: Fields that the page has an input for.
    """
    found = []
    for name in fields:
        key, own = _key(row, name), mine.get(name)
        if _is_stale(seen, key, _raw(row, name), own):
            label = f"{capfirst(row._meta.verbose_name)} {row.pk}: {_field(row, name).verbose_name}"
            was = own or _as_seen(row, name, seen[key])
            held = name if own and name in inputs else ""
            found.append(Conflict(held, label, _read(row, name), was, own is not None))
    return found


def _as_seen(row: Any, name: str, digest: str) -> Shown:
    """Return the value that was shown, from the row's history."""
    records = row.history.all()[:MAX_RECORDS]
    was = next((record for record in records if _digest(_raw(record, name)) == digest), None)
    return _read(was, name) if was else Shown([], "(no longer known)")


def _read(row: Any, name: str) -> Shown:
    """Return the stored value of a field, in words."""
    values, _ = _raw(row, name)
    field = _field(row, name)
    if field.choices:
        return Shown(values, getattr(row, f"get_{name}_display")())
    if values and field.related_model:
        related = field.related_model._base_manager.filter(pk__in=values).first()
        return Shown(values, str(related or "(deleted)"))
    return Shown(values, "".join(values))


def _raw(row: Any, name: str) -> Shown:
    """Return the stored value of a field, without its words."""
    value = getattr(row, _field(row, name).attname)
    return Shown([] if value in (None, "") else [_plain(value)], "")


def _field(row: Any, name: str) -> Any:
    return row._meta.get_field(name)


def _key(row: Any, name: str) -> str:
    return f"{row.pk}/{name}"


# Values ------------------------------------------------------------------------------------------


def _stored(field: BoundField) -> Shown:
    return _shown(field, field.field.prepare_value(field.initial))


def _unnamed(field: BoundField) -> Shown:
    """Return the stored value of a field, without the names of chosen rows, which cost a query."""
    return _shown(field, field.field.prepare_value(field.initial), is_named=False)


def _shown(field: BoundField, value: Any, *, is_named: bool = True) -> Shown:
    widget = _widget(field.field)
    if isinstance(widget, forms.CheckboxInput):
        is_on = widget.check_test(value)
        return Shown(["on"] if is_on else [], "yes" if is_on else "no")
    formatted = widget.format_value(value)
    several = formatted if isinstance(formatted, list | tuple) else [formatted]
    values = [_plain(one) for one in several if one not in (None, "")]
    if not isinstance(widget, forms.widgets.ChoiceWidget):
        return Shown(values, "\n".join(values))
    values.sort()
    return Shown(values, ", ".join(_names(field.field, values) if is_named else values))


def _names(field: Any, values: list[str]) -> list[str]:
    if isinstance(field, forms.ModelChoiceField) and field.queryset is not None:
        try:
            return [str(row) for row in field.queryset.filter(pk__in=values)]
        except (TypeError, ValueError):
            return values
    labels = {str(value): str(label) for value, label in getattr(field, "choices", ())}
    return [labels.get(value, value) for value in values]


def _plain(value: Any) -> str:
    """Return a text as any browser sends it back."""
    return str(value).replace("\r\n", "\n").strip()


def _digest(shown: Shown) -> str:
    return sha256(json.dumps(shown.values).encode()).hexdigest()[:DIGITS]


def _widget(field: Any) -> Any:
    """Return the widget itself, without the links that the admin puts beside it."""
    return getattr(field.widget, "widget", field.widget)
