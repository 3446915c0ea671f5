"""Users who have a right."""

from django.db.models import QuerySet

from evalhub.access.models import User

BACKEND = "django.contrib.auth.backends.ModelBackend"


def users_with(right: str) -> QuerySet[User]:
    """Return the active users with a right (`app.codename`), by name."""
    found: QuerySet[User] = User.objects.with_perm(right, backend=BACKEND)
    return found.order_by("username")
