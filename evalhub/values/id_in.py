"""A condition with thousands of numbers: written in a small part of the time of Django's `in`."""

import json
from collections.abc import Iterable
from typing import Any

from django.db.models import BooleanField, Func


class IdIn(Func):
    """Holds where the column is one of these whole numbers, which are sent as one value."""

    output_field = BooleanField()

    def __init__(self, column: str, numbers: Iterable[int] = (), **extra: Any) -> None:
        super().__init__(column, numbers=tuple(numbers), **extra)

    def as_postgresql(self, compiler: Any, connection: Any) -> Any:
        return self._written(compiler, "%s = ANY(%%s::bigint[])", _array)

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self._written(compiler, "%s IN (SELECT value FROM json_each(%%s))", json.dumps)

    def _written(self, compiler: Any, condition: str, whole: Any) -> Any:
        column, values = compiler.compile(self.source_expressions[0])
        return condition % column, [*values, whole(self.extra["numbers"])]


def _array(numbers: tuple[int, ...]) -> str:
    """Write down an array for PostgreSQL: the driver's own way takes longer."""
    return f"{{{','.join(map(str, numbers))}}}"
