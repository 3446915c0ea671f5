"""Taking in many pieces of feedback at once, each of them only once."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from simple_history.utils import bulk_create_with_history

from evalhub.access.models import User
from issues.models import Feedback

PORTION = 500


class IntakeResult(NamedTuple):
    """What became of each row that was sent, in their order.

    `rows` are those that were made, by their place in what was sent; `duplicates` gives for the
    others
    the number of the row that had their id already.
    """

    added: dict[int, Feedback]
    duplicates: dict[int, int]


def take_in(rows: Sequence[Mapping[str, Any]], *, by: User, reason: str) -> IntakeResult:
    """Save feedback; rows whose `source_id` is there already change nothing.

    Args:
        rows: The fields of each; none has the `source_id` of another, unless it is "".
    """
    try:
        return _receive(rows, by, reason)
    except IntegrityError:  # the same was sent by somebody else at the same time
        return _receive(rows, by, reason)


@transaction.atomic
def _receive(rows: Sequence[Mapping[str, Any]], by: User, reason: str) -> IntakeResult:
    duplicates = existing_ids([str(row.get("source_id", "")) for row in rows])
    there = {
        n: duplicates[row["source_id"]] for n, row in enumerate(rows) if _id(row) in duplicates
    }
    added = {n: Feedback(received_by=by, **row) for n, row in enumerate(rows) if n not in there}
    created = bulk_create_with_history(
        list(added.values()),
        Feedback,
        batch_size=PORTION,
        default_user=by,
        default_change_reason=reason,
    )
    return IntakeResult(dict(zip(added, created, strict=True)), there)


def existing_ids(source_ids: Sequence[str]) -> dict[str, int]:
    """The numbers of the feedback that has these ids already."""
    wanted = [source_id for source_id in source_ids if source_id]
    found: dict[str, int] = {}
    for start in range(0, len(wanted), PORTION):
        rows = Feedback.objects.filter(source_id__in=wanted[start : start + PORTION])
        found |= dict(rows.values_list("source_id", "pk"))
    return found


def _id(row: Mapping[str, Any]) -> str:
    return str(row.get("source_id", "")) or "\0"
