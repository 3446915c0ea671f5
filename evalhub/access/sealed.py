"""Sealed text leaves only through `readable_by(user)`.

Every table whose text comes from a test names its `sealed_fields` and the `sealed_path` to the
test's own flag. Figures may be counted over all rows; texts are read through these querysets.

A sealed test can be revealed to a person. That opens what is derived from this one test. A row
that hangs on several tests (its path leads through a relation to many) stays closed as long as
one of them is sealed: what was revealed of one says nothing of the others.
"""

from functools import cache
from typing import Any, Self

from django.apps import apps
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q

READ_SEALED = "issues.read_sealed_test"
SEALED = "sealed"


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
        model: Any = self.model
        path, lookup = model.sealed_path, test_lookup(model)
        if lookup and (revealed := revealed_tests(user)):
            return self.filter(~Q(**{path: True}) | Q(**{f"{lookup}__in": revealed}))
        rows = self.exclude(**{path: True})
        for other in getattr(self.model, "also_sealed_paths", ()):
            rows = rows.exclude(**{other: True})
        return rows


@cache
def test_lookup(model: type[models.Model]) -> str:
    """The lookup of the one test that a row is derived from; "" where it hangs on several."""
    *steps, flag = model.sealed_path.split("__")  # type: ignore[attr-defined]
    assert flag == SEALED
    here: Any = model
    for step in steps:
        field = here._meta.get_field(step)
        if field.one_to_many or field.many_to_many:
            return ""
        here = field.related_model
    return "__".join([*steps, "pk"])


def revealed_tests(user: AbstractBaseUser | AnonymousUser) -> frozenset[int]:
    """Sealed tests that this person may read though not all of them. Read once for a request."""
    if user.pk is None:
        return frozenset()
    known: frozenset[int] | None = getattr(user, "_revealed_tests", None)
    if known is None:
        exposures: Any = apps.get_model("evalhub", "Exposure")._default_manager
        known = frozenset(exposures.revealed_to(user).values_list("test", flat=True))
        user._revealed_tests = known  # type: ignore[union-attr]
    return known


def may_read(user: AbstractBaseUser | AnonymousUser, test: Any) -> bool:
    """Whether this person may read the text of this test."""
    if not test.sealed:
        return not isinstance(user, FiguresOnly)
    if isinstance(user, FiguresOnly):
        return False
    return bool(user.has_perm(READ_SEALED)) or test.pk in revealed_tests(user)  # type: ignore[union-attr]
