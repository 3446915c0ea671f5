from collections.abc import Collection
from typing import Any

from django.db import models

from evalhub.values.digest import digest


class Provenance(models.Model):
    """What EvalHub itself did for an answer or judgment, stored once per combination.

    `parts` are those of `runs.comparison.scoring_versions`; `key` is their digest.
    """

    key = models.CharField(max_length=64, unique=True)
    parts = models.JSONField(default=dict)

    def __str__(self) -> str:
        return self.key

    @classmethod
    def set_on(cls, rows: Collection[Any]) -> None:
        """Set the provenance of rows that were made here and say so in `made_with`."""
        by_key = {digest(row.made_with): row.made_with for row in rows if row.made_with}
        known = cls._ids(by_key)
        if new := [Provenance(key=key, parts=by_key[key]) for key in by_key.keys() - known.keys()]:
            Provenance.objects.bulk_create(new, ignore_conflicts=True)
            known = cls._ids(by_key)
        for row in rows:
            if row.made_with:
                row.provenance_id = known[digest(row.made_with)]

    @classmethod
    def _ids(cls, keys: Collection[str]) -> dict[str, int]:
        rows = cls.objects.filter(key__in=keys).order_by() if keys else cls.objects.none()
        return dict(rows.values_list("key", "pk"))
