"""Intake of many feedback items, each only once."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from simple_history.utils import bulk_create_with_history

from evalhub.access.models import User
from issues.models import Feedback, ImageUse

PORTION = 500


class IntakeResult(NamedTuple):
    """Outcome of each row sent, by its place.

    `added` are new rows; `duplicates` maps the others to the id of the row that is there, from
    before or from an earlier place.
    """

    added: dict[int, Feedback]
    duplicates: dict[int, int]


def take_in(rows: Sequence[Mapping[str, Any]], *, by: User, reason: str) -> IntakeResult:
    """Save feedback; rows whose `source` has sent their `source_id` before change nothing."""
    try:
        return _receive(rows, by, reason)
    except IntegrityError:  # the same was sent by somebody else at the same time
        return _receive(rows, by, reason)


@transaction.atomic
def _receive(rows: Sequence[Mapping[str, Any]], by: User, reason: str) -> IntakeResult:
    existing, keys = existing_ids(rows), [key_of(row) for row in rows]
    first = {key: n for n, key in reversed(list(enumerate(keys)))}
    added = {
        n: Feedback(received_by=by, **row)
        for n, row in enumerate(rows)
        if keys[n] is None or (keys[n] not in existing and first[keys[n]] == n)
    }
    created = bulk_create_with_history(
        list(added.values()),
        Feedback,
        batch_size=PORTION,
        default_user=by,
        default_change_reason=reason,
    )
    ImageUse.objects.note(created)
    saved = dict(zip(added, created, strict=True))
    existing |= {keys[n]: row.pk for n, row in saved.items()}
    duplicates = {n: existing[key] for n, key in enumerate(keys) if n not in saved}
    return IntakeResult(saved, duplicates)


def key_of(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what tells feedback apart: its source and the id there; None without an id."""
    source_id = str(row.get("source_id", ""))
    return (str(row.get("source", "")), source_id) if source_id else None


def existing_ids(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str] | None, int]:
    """Return the ids of the feedback that exists of these rows, by `key_of`."""
    keys = [key for row in rows if (key := key_of(row))]
    found: dict[tuple[str, str] | None, int] = {}
    for start in range(0, len(keys), PORTION):
        portion = [source_id for _, source_id in keys[start : start + PORTION]]
        stored = Feedback.objects.filter(source_id__in=portion)
        found |= {(s, i): pk for s, i, pk in stored.values_list("source", "source_id", "pk")}
    return found
