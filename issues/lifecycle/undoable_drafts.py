"""Drafts that can be undone: nobody has changed or used them since they were made."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import ProtectedError

from evalhub.access.models import User
from evalhub.history import sign
from issues.models import Issue, IssueState, Test, TestState

DRAFTS = {IssueState.DRAFT.value, TestState.DRAFT.value}


def delete_untouched(
    row: Issue | Test, reason: str, *, by: User, made: str = "", besides: Collection[str] = ()
) -> bool:
    """Delete a draft that nobody has changed or used; return whether that was so.

    Args:
        made: The reason in its history with which it was made; "" is that of its first record.
        besides: Relations of rows that do not count as use, and go along.
    """
    records = row.history.order_by("history_id")
    made = made or records.values_list("history_change_reason", flat=True)[0] or ""
    links = [link for link in row._meta.related_objects if link.name not in besides]
    is_used = any(
        link.related_model._base_manager.filter(**{link.field.name: row}).exists() for link in links
    )
    if row.state not in DRAFTS or is_used or records.exclude(history_change_reason=made).exists():
        return False
    sign(row, by, reason)
    try:
        with transaction.atomic():
            row.delete()
    except ProtectedError:
        return False
    return True
