"""A cache in the database, shared by all processes and kept over restarts, with JSON for values.

Django's own database cache holds pickles: whoever can write the table would run code in every
process that reads it.
"""

import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import DatabaseError, models, transaction
from django.db.models.functions import Cast
from django.utils import timezone

from evalhub.limits import MAX_CACHE_ROWS

NEVER = datetime(9999, 1, 1, tzinfo=UTC)
CULLED = 0.01
"""Share of writes after which expired and surplus rows are deleted."""


class CachedValue(models.Model):
    """A JSON value under a key. Any can be deleted at any time."""

    key = models.CharField(max_length=250, primary_key=True)
    value = models.TextField()
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.key


def forget_computed() -> None:
    """Delete all computed content of reports; what never expires is none."""
    CachedValue.objects.filter(expires_at__lt=NEVER).delete()


def cull() -> None:
    """Delete expired and surplus values."""
    CachedValue.objects.filter(expires_at__lte=timezone.now()).delete()
    surplus = CachedValue.objects.order_by("-expires_at").values_list("pk", flat=True)[
        MAX_CACHE_ROWS:
    ]
    CachedValue.objects.filter(pk__in=list(surplus)).delete()


class JSONCache(BaseCache):
    """Takes values of JSON."""

    def __init__(self, name: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        found = self._rows(key, version).filter(expires_at__gt=timezone.now())
        value = found.values_list("value", flat=True).first()
        return default if value is None else json.loads(value)

    def set(
        self,
        key: str,
        value: Any,
        timeout: Any = DEFAULT_TIMEOUT,
        version: int | None = None,
    ) -> None:
        self._write(
            self._row(key, value, timeout, version),
            update_conflicts=True,
            unique_fields=["key"],
            update_fields=["value", "expires_at"],
        )

    def add(
        self,
        key: str,
        value: Any,
        timeout: Any = DEFAULT_TIMEOUT,
        version: int | None = None,
    ) -> bool:
        self._rows(key, version).filter(expires_at__lte=timezone.now()).delete()
        return self._write(self._row(key, value, timeout, version))

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Add to a whole number at once, so that no other process's addition is lost."""
        number = Cast(Cast("value", models.BigIntegerField()) + delta, models.TextField())
        if not self._rows(key, version).update(value=number):
            raise ValueError(f"Key '{key}' not found")
        return int(self.get(key, version=version) or 0)

    def delete(self, key: str, version: int | None = None) -> bool:
        return bool(self._rows(key, version).delete()[0])

    def clear(self) -> None:
        CachedValue.objects.all().delete()

    def _rows(self, key: str, version: int | None) -> models.QuerySet[CachedValue]:
        return CachedValue.objects.filter(pk=self.make_and_validate_key(key, version))

    def _row(self, key: str, value: Any, timeout: Any, version: int | None) -> CachedValue:
        lasts_s = self.default_timeout if timeout is DEFAULT_TIMEOUT else timeout
        expires_at = NEVER if lasts_s is None else timezone.now() + timedelta(seconds=lasts_s)
        key = self.make_and_validate_key(key, version)
        return CachedValue(key=key, value=json.dumps(value), expires_at=expires_at)

    def _write(self, row: CachedValue, **conflicts: Any) -> bool:
        """Write, and return whether that worked: a cache that cannot be written stops no page."""
        try:
            with transaction.atomic():
                CachedValue.objects.bulk_create([row], **conflicts)
                if random.random() < CULLED:
                    cull()
        except DatabaseError:
            return False
        return True
