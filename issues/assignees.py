"""Users that an issue can be assigned to, and their notification, whichever page assigned it."""

from datetime import timedelta
from typing import Any

from django.core.cache import caches
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from evalhub.access.models import User
from evalhub.access.roles import users_with
from evalhub.notifications.events import Event, notify
from evalhub.notifications.models import NotificationKind
from issues.lifecycle.states import CHANGE_ISSUE
from issues.models import Issue

REFUSAL = (
    "Issues cannot be assigned to {value}. Choose an active user whose role may change issues, "
    "such as an annotator."
)


def assignable(issue: Issue | None = None) -> QuerySet[User]:
    """Return who may work on issues, and who the issue is assigned to already."""
    if issue is None or issue.assignee_id is None:
        return users_with(CHANGE_ISSUE)
    able = users_with(CHANGE_ISSUE).order_by().values("pk")
    return User.objects.filter(Q(pk__in=able) | Q(pk=issue.assignee_id)).order_by("username")


def refusal(key: int) -> str:
    """Say why the user with this key cannot be assigned an issue; 0: no number was sent."""
    user = User.objects.filter(pk=key).first()
    return REFUSAL.format(value=user or f"user {key}")


LOOKBACK = timedelta(days=1)
"""Age of an assignment after which nobody is notified, as after a first installation."""

LAST_READ, KEPT_S = "assigned-pulled", 7 * 24 * 3600
"""Cache key of the last history row read. Losing it is harmless: no notification is sent twice."""


def notify_assigned() -> int:
    """Notify new assignees since the last call; return their number."""
    cache = caches["computed"]
    changes = list(_changes_after(cache.get(LAST_READ) or 0))
    count = 0
    for change in changes:
        user = change.assignee
        if user and user.pk != change.assigned_before and user != change.history_user:
            count += notify(_event(change), to=[user])
    if changes:
        cache.set(LAST_READ, changes[-1].history_id, KEPT_S)
    return count


def _changes_after(last: int) -> Any:
    """Return versions of issues with the assignee before, oldest first."""
    history = Issue.history.model.objects
    before = history.filter(id=OuterRef("id"), history_id__lt=OuterRef("history_id"))
    return (
        history.filter(history_id__gt=last, history_date__gte=timezone.now() - LOOKBACK)
        .annotate(assigned_before=Subquery(before.order_by("-history_id").values("assignee")[:1]))
        .select_related("assignee", "history_user")
        .order_by("history_id")
    )


def _event(change: Any) -> Event:
    by = str(change.history_user or "EvalHub")
    return Event(
        kind=NotificationKind.ASSIGNED,
        key=f"issue {change.id} assigned {change.history_id}",
        title=f"“{change.title}” was assigned to you",
        text=f"{by} assigned this issue to you.",
        url=change.instance.get_absolute_url(),
        facts={"issue": change.id, "assignee": str(change.assignee), "by": by},
    )
