"""A cache in the database, shared by all processes and kept over restarts, with JSON for values.

Django's own database cache holds pickles: whoever can write the table would run code in every
process that reads it.
"""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import DatabaseError, models, transaction
from django.db.models.functions import Cast
from django.utils import timezone

from evalhub.values.typed_json import Unreadable, dumps, loads

NEVER = datetime(9999, 1, 1, tzinfo=UTC)
CULLED = 0.01
"""Share of writes after which expired and surplus rows are deleted."""


class KeptValue(models.Model):
    """A value under a key, as `evalhub.values.typed_json`. Any can be deleted at any time."""

    key = models.CharField(max_length=250, primary_key=True)
    value = models.TextField()
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.key


def forget_pages() -> None:
    """Delete all computed content of pages; what never expires is no page."""
    KeptValue.objects.filter(expires_at__lt=NEVER).delete()


class JSONCache(BaseCache):
    """Takes `evalhub.values.typed_json`; a value of an earlier version counts as missing."""

    def __init__(self, name: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        key = self.make_and_validate_key(key, version)
        found = KeptValue.objects.filter(pk=key, expires_at__gt=timezone.now())
        value = found.values_list("value", flat=True).first()
        try:
            return default if value is None else loads(value)
        except Unreadable:
            return default

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
        row = self._row(key, value, timeout, version)
        KeptValue.objects.filter(pk=row.pk, expires_at__lte=timezone.now()).delete()
        return self._write(row)

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Add to a whole number at once, so that no other process's addition is lost."""
        rows = KeptValue.objects.filter(pk=self.make_and_validate_key(key, version))
        number = Cast(Cast("value", models.BigIntegerField()) + delta, models.TextField())
        if not rows.update(value=number):
            raise ValueError(f"Key '{key}' not found")
        return int(self.get(key, version=version) or 0)

    def delete(self, key: str, version: int | None = None) -> bool:
        rows = KeptValue.objects.filter(pk=self.make_and_validate_key(key, version))
        return bool(rows.delete()[0])

    def clear(self) -> None:
        KeptValue.objects.all().delete()

    def _row(self, key: str, value: Any, timeout: Any, version: int | None) -> KeptValue:
        kept_s = self.default_timeout if timeout is DEFAULT_TIMEOUT else timeout
        expires_at = NEVER if kept_s is None else timezone.now() + timedelta(seconds=kept_s)
        key = self.make_and_validate_key(key, version)
        return KeptValue(key=key, value=dumps(value), expires_at=expires_at)

    def _write(self, row: KeptValue, **conflicts: Any) -> bool:
        """Write, and return whether that worked: a cache that cannot be written stops no page."""
        try:
            with transaction.atomic():
                KeptValue.objects.bulk_create([row], **conflicts)
                if random.random() < CULLED:
                    self._cull()
        except DatabaseError:
            return False
        return True

    def _cull(self) -> None:
        KeptValue.objects.filter(expires_at__lte=timezone.now()).delete()
        surplus = KeptValue.objects.order_by("-expires_at")[self._max_entries :]
        KeptValue.objects.filter(pk__in=list(surplus.values_list("pk", flat=True))).delete()
