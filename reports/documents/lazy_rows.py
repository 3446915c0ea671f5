"""Rows of a table that are loaded when they are shown. Pure."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from reports.documents.document import Cell

K = TypeVar("K")
Row = tuple[Cell, ...]

PIECE = 500


class LazyRows(Sequence[Row], Generic[K]):
    """Rows by key; `load` returns the rows of some keys in their order."""

    def __init__(self, keys: Sequence[K], load: Callable[[Sequence[K]], Sequence[Row]]) -> None:
        self.keys = keys
        self.load = load

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            keys = self.keys[place]
            return self.load(keys) if keys else []
        return self.load([self.keys[place]])[0]

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, len(self.keys), PIECE):
            yield from self[start : start + PIECE]
