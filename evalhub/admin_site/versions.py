"""Change forms that lose nobody's edit.

A form carries a digest of each field as it was shown. On saving, a field whose stored value has
another digest by then was changed by somebody else: nothing is saved, and both texts are shown.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.forms.boundfield import BoundField
from django.forms.formsets import BaseFormSet
from django.utils.timezone import localtime

from evalhub.access.models import User

SEEN = "_seen"
"""Name of the hidden input with the digests."""
DIGITS = 10


class Shown(NamedTuple):
    """A value as its input sends it, and its words; several for a choice of several rows."""

    values: list[str]
    text: str


@dataclass(frozen=True)
class Conflict:
    """A field that somebody else has changed since the form was opened.

    `is_touched`: the reader has changed it too; otherwise the form now holds `theirs`.
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


def refusal(changed_by: str) -> str:
    return (
        f"{changed_by}. Nothing was saved yet, and nothing you typed is lost: choose between the "
        "texts below, then save."
    )


def last_change(row: Any, reader: User) -> str:
    """Return who changed the row last and when, such as "anna changed this at 10:42"."""
    latest = row.history.select_related("history_user").first() if hasattr(row, "history") else None
    if latest is None:
        return "Somebody changed this after you opened it"
    at = f"{localtime(latest.history_date):%H:%M}"
    if latest.history_user == reader:
        return f"You changed this in another tab at {at}"
    return f"{latest.history_user or 'An application'} changed this at {at}, after you opened it"


# Digests -----------------------------------------------------------------------------------------


def seen_in(form: Any, formsets: Iterable[Any]) -> str:
    """Return the digests of the stored values that a page shows, as its form sends them."""
    every = [form, *(each for formset in formsets for each in formset.initial_forms)]
    return json.dumps(
        {key: _digest(_stored(field)) for each in every for key, field in _fields(each)}
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
        if key not in seen or seen[key] == _digest(theirs):
            continue
        mine = _shown(field, field.value())
        if _digest(mine) == _digest(theirs):
            continue
        is_touched = seen[key] != _digest(mine)
        conflicts.append(Conflict(field.html_name, _label(form, field), theirs, mine, is_touched))
    untouched = [conflict for conflict in conflicts if not conflict.is_touched]
    if untouched:
        form.data = form.data.copy()
        for conflict in untouched:
            form.data.setlist(conflict.name, conflict.theirs.values)
    return conflicts


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


# Values ------------------------------------------------------------------------------------------


def _stored(field: BoundField) -> Shown:
    return _shown(field, field.field.prepare_value(field.initial))


def _shown(field: BoundField, value: Any) -> Shown:
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
    return Shown(values, ", ".join(_names(field.field, values)))


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
