"""Access to the text of sealed tests, only through `readable_by(user)`.

Every table with text of a test names its `sealed_fields` and the `sealed_path` to the test's
flag. Figures may count all rows; texts are read through these querysets.

Revealing a sealed test to a user opens everything derived from it. A row derived from several
tests (its path has a to-many relation) stays closed while any of them is sealed.
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
    """A reader without access to any test's text.

    Content made for it can be stored for all readers, whatever is sealed later.
    """


class SealedQuerySet(models.QuerySet[Any]):
    """Rows with text of tests, or derived from it."""

    def readable_by(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Filter rows whose text this user may read."""
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
    """Return the lookup of the test that a row derives from; "" if from several, or none."""
    *steps, flag = model.sealed_path.split("__")  # type: ignore[attr-defined]
    assert flag == SEALED
    here: Any = model
    for step in steps:
        field = here._meta.get_field(step)
        if field.one_to_many or field.many_to_many:
            return ""
        here = field.related_model
    return "__".join([*steps, "pk"]) if here._meta.model_name == "test" else ""


def revealed_tests(user: AbstractBaseUser | AnonymousUser) -> frozenset[int]:
    """Return the sealed tests revealed to this user. Read once per request."""
    if user.pk is None:
        return frozenset()
    known: frozenset[int] | None = getattr(user, "_revealed_tests", None)
    if known is None:
        exposures: Any = apps.get_model("evalhub", "Exposure")._default_manager
        known = frozenset(exposures.revealed_to(user).values_list("test", flat=True))
        user._revealed_tests = known  # type: ignore[union-attr]
    return known
