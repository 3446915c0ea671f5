"""Telling people of issues that were assigned to them: pulled from the history of issues.

So it does not matter by which door somebody was assigned. Who assigns an issue to themselves is
not told.
"""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

from django.core.cache import caches
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from evalhub.notifications.events import Event, notify
from evalhub.notifications.models import NotificationKind
from issues.models import Issue

LOOKBACK = timedelta(days=1)
"""What was assigned before is told to nobody, as when this is first installed."""

PULLED, KEPT_S = "assigned-pulled", 7 * 24 * 3600
"""Up to which row the history was read. Losing it does no harm: what was told is told once."""


def notify_assigned() -> int:
    """Tell who became an issue's assignee since the last time; gives how many were told."""
    kept = caches["computed"]
    changes = list(_changes_after(kept.get(PULLED) or 0))
    told = sum(notify(event, to=[user]) for event, user in _assigned(changes))
    if changes:
        kept.set(PULLED, changes[-1].history_id, KEPT_S)
    return told


def _changes_after(last: int) -> Any:
    """Versions of issues with who was the assignee in the version before, oldest first."""
    history = Issue.history.model.objects
    before = history.filter(id=OuterRef("id"), history_id__lt=OuterRef("history_id"))
    return (
        history.filter(history_id__gt=last, history_date__gte=timezone.now() - LOOKBACK)
        .annotate(assigned_before=Subquery(before.order_by("-history_id").values("assignee")[:1]))
        .select_related("assignee", "history_user")
        .order_by("history_id")
    )


def _assigned(changes: Iterable[Any]) -> Iterator[tuple[Event, Any]]:
    for change in changes:
        user, by = change.assignee, change.history_user
        if user is not None and user.pk != change.assigned_before and user != by:
            yield _event(change), user


def _event(change: Any) -> Event:
    by = str(change.history_user or "EvalHub")
    return Event(
        kind=NotificationKind.ASSIGNED,
        key=f"issue {change.id} assigned {change.history_id}",
        title=f"“{change.title}” is yours now",
        text=f"{by} assigned this issue to you.",
        url=change.instance.get_absolute_url(),
        facts={"issue": change.id, "assignee": str(change.assignee), "by": by},
    )
