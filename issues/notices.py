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

from evalhub.notices.models import NoticeKind
from evalhub.notices.telling import Event, tell
from issues.models import Issue

LOOKED_BACK = timedelta(days=1)
"""What was assigned before is told to nobody, as when this is first installed."""

PULLED, KEPT_S = "assigned-pulled", 7 * 24 * 3600
"""Up to which row the history was read. Losing it does no harm: what was told is told once."""


def tell_assigned() -> int:
    """Tell who became an issue's assignee since the last time; gives how many were told."""
    kept = caches["computed"]
    changes = list(_changes_after(kept.get(PULLED) or 0))
    told = sum(tell(event, to=[person]) for event, person in _assigned(changes))
    if changes:
        kept.set(PULLED, changes[-1].history_id, KEPT_S)
    return told


def _changes_after(last: int) -> Any:
    """Versions of issues with who was the assignee in the version before, oldest first."""
    history = Issue.history.model.objects
    before = history.filter(id=OuterRef("id"), history_id__lt=OuterRef("history_id"))
    return (
        history.filter(history_id__gt=last, history_date__gte=timezone.now() - LOOKED_BACK)
        .annotate(assigned_before=Subquery(before.order_by("-history_id").values("assignee")[:1]))
        .select_related("assignee", "history_user")
        .order_by("history_id")
    )


def _assigned(changes: Iterable[Any]) -> Iterator[tuple[Event, Any]]:
    for change in changes:
        person, by = change.assignee, change.history_user
        if person is not None and person.pk != change.assigned_before and person != by:
            yield _event(change), person


def _event(change: Any) -> Event:
    by = str(change.history_user or "EvalHub")
    return Event(
        kind=NoticeKind.ASSIGNED,
        key=f"issue {change.id} assigned {change.history_id}",
        title=f"“{change.title}” is yours now",
        text=f"{by} assigned this issue to you.",
        url=change.instance.get_absolute_url(),
        facts={"issue": change.id, "assignee": str(change.assignee), "by": by},
    )
