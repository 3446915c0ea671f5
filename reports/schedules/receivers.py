"""Users that a schedule can notify."""

from django.db.models import QuerySet

from evalhub.models import User


def readers() -> QuerySet[User]:
    """Return the users who may read reports."""
    backend = "django.contrib.auth.backends.ModelBackend"
    found: QuerySet[User] = User.objects.with_perm("runs.view_run", backend=backend)
    return found.order_by("username")
