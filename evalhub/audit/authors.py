"""Users who did something stay, so that it stays on record who did it."""

from typing import Any

from django.db.models import ProtectedError

from evalhub.access.models import User
from evalhub.audit.models import AuditEntry


def keep_authors(instance: User, **kwargs: Any) -> None:
    """Raise ProtectedError if this user did something; a receiver of deletions."""
    acts = AuditEntry.objects.filter(actor=instance.pk)
    if acts.exists():
        raise ProtectedError(f"{instance} did something that is on record.", set(acts[:1]))
