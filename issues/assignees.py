"""Users that an issue can be assigned to."""

from django.db.models import Q, QuerySet

from evalhub.access.models import User
from evalhub.access.right_holders import users_with
from issues.models import Issue
from issues.states import CHANGE_ISSUE

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
