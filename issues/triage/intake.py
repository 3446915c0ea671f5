"""Intake of many feedback items, each only once."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from simple_history.utils import bulk_create_with_history

from evalhub.access.models import User
from issues.models import Feedback

PORTION = 500


class IntakeResult(NamedTuple):
    """Outcome of each row sent, by its place.

    `added` are new rows; `duplicates` maps the others to the id of the row with their source_id.
    """

    added: dict[int, Feedback]
    duplicates: dict[int, int]


def take_in(rows: Sequence[Mapping[str, Any]], *, by: User, reason: str) -> IntakeResult:
    """Save feedback; rows with an existing `source_id` change nothing.

    Args:
        rows: Fields of each; non-empty `source_id`s are unique.
    """
    try:
        return _receive(rows, by, reason)
    except IntegrityError:  # the same was sent by somebody else at the same time
        return _receive(rows, by, reason)


@transaction.atomic
def _receive(rows: Sequence[Mapping[str, Any]], by: User, reason: str) -> IntakeResult:
    source_ids = [str(row.get("source_id", "")) for row in rows]
    existing = existing_ids(source_ids)
    duplicates = {n: existing[one] for n, one in enumerate(source_ids) if one in existing}
    added = {
        n: Feedback(received_by=by, **row) for n, row in enumerate(rows) if n not in duplicates
    }
    created = bulk_create_with_history(
        list(added.values()),
        Feedback,
        batch_size=PORTION,
        default_user=by,
        default_change_reason=reason,
    )
    return IntakeResult(dict(zip(added, created, strict=True)), duplicates)


def existing_ids(source_ids: Sequence[str]) -> dict[str, int]:
    """Return the ids of existing feedback by source_id."""
    wanted = [source_id for source_id in source_ids if source_id]
    found: dict[str, int] = {}
    for start in range(0, len(wanted), PORTION):
        rows = Feedback.objects.filter(source_id__in=wanted[start : start + PORTION])
        found |= dict(rows.values_list("source_id", "pk"))
    return found
