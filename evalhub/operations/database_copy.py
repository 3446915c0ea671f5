"""Copies all rows of another database into this one, such as from SQLite to PostgreSQL."""

from collections.abc import Callable, Iterator
from typing import Any

import dj_database_url
from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, connections, models, transaction
from django.db.migrations.recorder import MigrationRecorder
from django_q.models import Task

from evalhub.access.models import User
from evalhub.operations.engines import engine
from evalhub.values.database_cache import CachedValue

SOURCE = "copied_from"
PORTION = 500


class CopyRefused(Exception):
    """Nothing is copied; the message says what to do."""


def copy_from(url: str, say: Callable[[str], object] = str) -> int:
    """Copy every row, in one transaction; return their number.

    Args:
        url: The other database, as `DATABASE_URL` names one.
        say: Gets a line for each table.

    Raises:
        CopyRefused: The tables of the two differ, or this one is in use.
    """
    options = dj_database_url.parse(url)
    connections.databases[SOURCE] = connections.configure_settings({"default": options})["default"]
    try:
        _check()
        with transaction.atomic(), transaction.atomic(using=SOURCE):
            return _copy(list(tables()), say)
    finally:
        connections[SOURCE].close()
        del connections[SOURCE], connections.databases[SOURCE]


def tables() -> Iterator[type[models.Model]]:
    """Yield all tables but migrations, which are the code's, cached values and `django_q.Task`.

    That last table is not used, and reading a row of it loads pickles.
    """
    for model in apps.get_models(include_auto_created=True):
        is_table = model._meta.managed and not model._meta.proxy
        if is_table and model not in (CachedValue, Task):
            yield model


def _check() -> None:
    there, here = (
        set(MigrationRecorder(one).applied_migrations())
        for one in (connections[SOURCE], connection)
    )
    if there != here:
        raise CopyRefused(
            "The two databases have different tables. Run manage.py migrate with this code on "
            "both, one DATABASE_URL after the other."
        )
    if User.objects.exists():
        raise CopyRefused(
            f"The database {engine().database} has users already. Copy into one that only "
            "manage.py migrate has written."
        )


def _copy(found: list[type[models.Model]], say: Callable[[str], object]) -> int:
    """Replace what `migrate` wrote by the other database's rows, and go on counting after them."""
    for model in reversed(found):
        model._base_manager.all()._raw_delete(connection.alias)
    copied = 0
    for model in found:
        number = _copy_table(model)
        copied += number
        if number:
            say(f"{number:>9} {model._meta.db_table}")
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), found):
            cursor.execute(statement)
    return copied


def _copy_table(model: type[models.Model]) -> int:
    fields = [field for field in model._meta.local_concrete_fields if not field.generated]
    names = [field.attname for field in fields]
    rows: Any = model._base_manager.using(SOURCE).order_by("pk").values_list(*names)
    number, portion = 0, []
    for row in rows.iterator(chunk_size=PORTION):
        portion.append(model(**dict(zip(names, row, strict=True))))
        if len(portion) == PORTION:
            number += _insert(model, fields, portion)
            portion = []
    return number + _insert(model, fields, portion)


def _insert(model: type[models.Model], fields: list[Any], rows: list[Any]) -> int:
    """Insert rows as they are: with their numbers and times, and without signals."""
    if rows:
        most = connection.ops.bulk_batch_size(fields, rows) or len(rows)
        for start in range(0, len(rows), most):
            some = rows[start : start + most]
            model._base_manager._insert(some, fields=fields, using=connection.alias, raw=True)  # type: ignore[attr-defined]
    return len(rows)
