"""A report independent of its form: pages, files and API responses are all made of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, TypeVar, overload

from pydantic import PlainSerializer, PlainValidator

from evalhub.display.formatting import counted
from evalhub.statistics.interval import Interval
from evalhub.values.typed_json import from_json, to_json
from reports.documents.handout import Handout
from runs.figures.rate import Rate

Format = Literal[
    "text",
    "count",
    "share",
    "points",
    "size",
    "score",
    "p",
    "number",
    "usd",
    "ms",
    "date",
    "outcome",
    "verdict",
    "rate",
    "estimate",
    "link",
    "excerpt",
]
"""How a value is written:

- `share`: in [0, 1], as percent
- `points`: a difference of two shares, in [-1, 1], as percentage points with a sign
- `size`: the size of such a difference, without a sign
- `ms`: as seconds
- `outcome`, `verdict`: as a badge
- `rate`: a `runs.figures.rate.Rate`
- `excerpt`: a text or a link, of which pages show the beginning
"""


def _cell_to_json(value: Any) -> Any:
    """Return a plain value as it is; others become an object whose only key names the type."""
    if isinstance(value, tuple):
        return {"several": [_cell_to_json(part) for part in value]}
    kinds = (name for name, kind in CELL_TYPES.items() if isinstance(value, kind))
    name = next(kinds, None)
    return {name: to_json(CELL_TYPES[name], value)} if name else value


def _cell_from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((name, content),) = value.items()
    if name == "several":
        return tuple(_cell_from_json(part) for part in content)
    return from_json(CELL_TYPES[name], content)


Cell = Annotated[Any, PlainSerializer(_cell_to_json), PlainValidator(_cell_from_json)]
"""None (not measured), a plain value, Rate, Estimate, Link, Linked, or a tuple of those."""

MIN_DRAWN = 3
"""Rows from which bars say more than the table below them."""

Figure = dict[str, Any] | None
Draw = Annotated[
    Callable[[], Figure],
    PlainSerializer(lambda draw: draw()),
    PlainValidator(lambda figure: lambda: figure),
]


@dataclass(frozen=True)
class Estimate:
    """A number of `n` things and its 95 % interval; None: not measured.

    `total` counts all results of which `n` are scored; None where it is of other things.
    """

    value: float | None
    n: int
    interval: Interval | None = None
    total: int | None = None


@dataclass(frozen=True)
class Link:
    """A text with its address and a small note; a page unfolds the results at `rows` below it."""

    text: str
    url: str
    note: str = ""
    rows: str = ""


@dataclass(frozen=True)
class Linked:
    """A value linked to its source; files and programs see the value alone."""

    value: Cell
    url: str


CELL_TYPES: dict[str, type] = {
    "rate": Rate,
    "estimate": Estimate,
    "link": Link,
    "linked": Linked,
    "time": datetime,
    "decimal": Decimal,
}


@dataclass(frozen=True)
class Column:
    """A column: `name` for programs, `title` for people; `note` explains the title."""

    name: str
    title: str
    form: Format = "text"
    note: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells, in the order of the columns.

    Attributes:
        key: Its name in addresses and for programs.
        note: A remark below the rows.
        empty: Text shown where it has no rows.
        draw: Makes the Plotly figure of the same numbers, where a page or a file shows it.
        look: "heat" shades rates by how high they are; "long" keeps many rows in a frame, "folded"
            behind a line to open; "rows" folds the figure; "ring" puts it beside the rows.
        describes: The figure in words, for those who do not see it.
        filters: Parameter that a click on the figure sets.
        shown: How many rows a page shows; the others, which say nothing new, are behind a line
            with the words `rest`. None: all.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[Cell, ...]]
    note: str = ""
    empty: str = ""
    draw: Draw = lambda: None
    look: Literal["", "heat", "long", "folded", "rows", "ring"] = ""
    describes: str = ""
    filters: str = ""
    shown: int | None = None
    rest: str = ""

    @cached_property
    def figure(self) -> Figure:
        return self.draw()

    def only(self, *names: str) -> "Table":
        """Return the table with these columns alone."""
        places = [place for place, column in enumerate(self.columns) if column.name in names]
        return replace(
            self,
            columns=tuple(self.columns[place] for place in places),
            rows=[tuple(row[place] for place in places) for row in self.rows],
        )

    def as_rows(self) -> list[dict[str, Cell]]:
        """Return each row by the names of its columns."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]


def folded(n: int, shown: int, one: str, many: str = "", *, said: str = "more") -> dict[str, Any]:
    """Return how a table of n rows shows the first ones only; {} if these are all."""
    rest = n - shown
    return {"shown": shown, "rest": f"{counted(rest, one, many)} {said}"} if rest > 0 else {}


@dataclass(frozen=True)
class Fact:
    """A headline number."""

    name: str
    title: str
    value: Cell
    form: Format = "text"
    note: str = ""
    url: str = ""


@dataclass(frozen=True)
class Document:
    """A report: its title, its findings in sentences, and the numbers.

    `warnings` are what must be known before the figures are used; `labels` are those of
    `runs.figures.run_figures.run_labels`; `actions` are what the reader can do about the warnings;
    `runs` are the IDs of its runs, empty: those that its figures link to;
    `leading` is how many sentences its page shows before the first figure, None: all;
    `handout` is the same on one page, for others; None: it has none of its own;
    `more` is what only the page's own template reads: no figures stand there alone.
    """

    title: str
    sentences: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    actions: tuple[Link, ...] = ()
    runs: tuple[int, ...] = ()
    leading: int | None = None
    handout: Handout | None = None
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def leading_sentences(self) -> tuple[str, ...]:
        return self.sentences[: self.leading]

    @property
    def other_sentences(self) -> tuple[str, ...]:
        return () if self.leading is None else self.sentences[self.leading :]

    def table(self, key: str) -> Table | None:
        """Return the table of this key; None where there is none."""
        return next((table for table in self.tables if table.key == key), None)


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
