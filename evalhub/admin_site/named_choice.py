"""A choice among rows, without making a row of each name in its list."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db.models import QuerySet
from django.forms import ModelChoiceField
from django.forms.models import ModelChoiceIterator


class _Names(ModelChoiceIterator):
    def __iter__(self) -> Iterator[Any]:
        field: Any = self.field
        if field.empty_label is not None:
            yield "", field.empty_label
        yield from field.names()


class NamedChoiceField(ModelChoiceField):
    """Its form says with `offer` what there is to choose.

    Attributes:
        names: Returns the key and the name of each row.
        rows: Returns the rows, to find the chosen one.
    """

    iterator = _Names
    names: Callable[[], Iterable[tuple[int, str]]] = staticmethod(tuple)
    rows: Callable[[], QuerySet[Any]]

    def offer(
        self, names: Callable[[], Iterable[tuple[int, str]]], rows: Callable[[], QuerySet[Any]]
    ) -> None:
        self.names, self.rows = names, rows

    def to_python(self, value: Any) -> Any:
        self.queryset = self.rows()
        return super().to_python(value)
