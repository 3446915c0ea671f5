"""Changed fields and names of rows, for many entries of the audit at once."""

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from django.db.models import OuterRef, Q, Subquery

from evalhub.audit.models import About, Act, AuditEntry
from evalhub.audit.sql_view import histories

NAMES = ("username", "name")
"""Fields that name a row. Only rows of this floor are named: others may quote a sealed test."""


def told(entries: list[AuditEntry]) -> list[AuditEntry]:
    """Set `about` of each entry."""
    found = about(entries)
    for entry in entries:
        entry.about = found[entry.id]
    return entries


def about(entries: Collection[AuditEntry]) -> dict[str, About]:
    """Return what each entry is about, by id; five queries at most for each kind."""
    by_kind: dict[str, list[AuditEntry]] = {}
    for entry in entries:
        by_kind.setdefault(entry.kind, []).append(entry)
    found: dict[str, About] = {}
    for kind, some in by_kind.items():
        versions: Any = histories().get(kind)
        names = _names(versions, some) if versions else {}
        changed = _changed(versions, some) if versions else {}
        for entry in some:
            number = entry.version or 0
            fields = changed.get(number) or list(_noted(entry.message))
            found[entry.id] = About(entry.name or names.get(number, ""), fields)
    return found


def _names(versions: Any, entries: Iterable[AuditEntry]) -> dict[int, str]:
    fields = {field.name for field in versions._meta.fields}
    name = next((name for name in NAMES if name in fields), None)
    if name is None or versions._meta.app_label != AuditEntry._meta.app_label:
        return {}
    numbers = [entry.version for entry in entries]
    return dict(versions.objects.filter(history_id__in=numbers).values_list("history_id", name))


def _changed(versions: Any, entries: Iterable[AuditEntry]) -> dict[int, list[str]]:
    numbers = [entry.version for entry in entries if entry.act == Act.CHANGED]
    if not numbers:
        return {}
    pk = versions.instance_type._meta.pk.attname
    same_time = Q(history_date=OuterRef("history_date"), history_id__lt=OuterRef("history_id"))
    earlier = versions.objects.filter(
        same_time | Q(history_date__lt=OuterRef("history_date")), **{pk: OuterRef(pk)}
    ).order_by("-history_date", "-history_id")
    previous = Subquery(earlier.values("history_id")[:1])
    made = versions.objects.filter(history_id__in=numbers).annotate(previous=previous)
    pairs = {row: row.previous for row in made if row.previous}
    before = versions.objects.in_bulk(list(pairs.values()))
    found = {row.history_id: list(_differing(row, before[pairs[row]])) for row in pairs}
    for link in versions._history_m2m_fields:
        linked = _linked(versions, link, [*before, *found])
        for row, number in pairs.items():
            if linked.get(row.history_id) != linked.get(number):
                found[row.history_id].append(str(link.verbose_name))
    return found


def _differing(row: Any, before: Any) -> Iterator[str]:
    for field in row.tracked_fields:
        is_automatic = getattr(field, "auto_now", False)
        if not is_automatic and getattr(row, field.attname) != getattr(before, field.attname):
            yield str(field.verbose_name)


def _linked(versions: Any, link: Any, numbers: Iterable[int]) -> dict[int, set[int]]:
    """Return the rows that each version links to; versions without any are left out."""
    links = getattr(versions, link.name).model.objects.filter(history__in=numbers)
    found: dict[int, set[int]] = {}
    for version, row in links.values_list("history", link.m2m_reverse_field_name()):
        found.setdefault(version, set()).add(row)
    return found


def _noted(message: str) -> Iterator[str]:
    """Yield the fields that the admin names in a message."""
    notes = json.loads(message) if message.startswith("[") else []
    for note in notes:
        for act in note.values():
            yield from map(str, act.get("fields", ()))
