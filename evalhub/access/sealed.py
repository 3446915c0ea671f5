"""Sealed text leaves only through `readable_by(user)`.

Every table whose text comes from a test names its `sealed_fields` and the `sealed_path` to the
test's own flag. Figures may be counted over all rows; texts are read through these querysets.
"""

from typing import Any, Self

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models

READ_SEALED = "issues.read_sealed_test"


class FiguresOnly(AnonymousUser):
    """A reader of figures and of no test's text.

    What is made for it can be kept for all to read, whatever is sealed later.
    """


class SealedQuerySet(models.QuerySet[Any]):
    """Rows that hold, or are derived from, the text of tests."""

    def readable_by(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Rows whose text this person may read: sealed ones only with the right to."""
        if isinstance(user, FiguresOnly):
            return self.none()
        if user.has_perm(READ_SEALED):  # type: ignore[union-attr]
            return self.all()
        return self.exclude(**{self.model.sealed_path: True})
