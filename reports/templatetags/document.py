"""Cells, charts and pages of a report's tables."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django import template
from django.core.paginator import Page, Paginator
from django.http import HttpRequest
from django.utils.html import json_script
from django.utils.safestring import SafeString, mark_safe

from evalhub.display.formatting import percent
from evalhub.display.formatting import words as code_words
from evalhub.drawing.figure import svg_of
from evalhub.outcomes import OUTCOMES
from reports.documents.cells import between, interval_note, words
from reports.documents.document import Cell, Column, Estimate, Fact, Form, Link, Linked, Table
from reports.documents.reading import COMPUTE
from runs.figures.rate import Rate

register = template.Library()

PAGE = 50
NUMBERS: frozenset[Form] = frozenset(
    ("count", "share", "points", "size", "score", "p", "number", "usd", "ms", "estimate")
)

SHADED: frozenset[Form] = frozenset(("rate", "share", "score", "estimate"))
"""Formats that a heat map shades: other numbers are not in [0, 1]."""

VERDICT_BADGES = {"worse": "failed", "better": "passed", "same": "pending"}


@register.filter
def is_number(column: Column) -> bool:
    """Return True for right-aligned columns."""
    return column.form in NUMBERS


@register.simple_tag(takes_context=True)
def rows_of(context: dict[str, Any], table: Table) -> Page:
    """Return the page of rows that the address asks for; a file has them all."""
    request: HttpRequest | None = context.get("request")
    if request is None:
        return Paginator(table.rows, max(1, len(table.rows))).page(1)
    return Paginator(table.rows, PAGE).get_page(request.GET.get(f"{table.key}-page", 1))


@register.simple_tag(takes_context=True)
def page_query(context: dict[str, Any], table: Table, number: int) -> str:
    """Return the query string for another page of this table."""
    query = context["request"].GET.copy()
    query.pop(COMPUTE, None)
    query[f"{table.key}-page"] = str(number)
    return f"?{query.urlencode()}#{table.key}"


@dataclass(frozen=True)
class ShownRate:
    """A rate in words, and in percent the places of its bar and interval; "" for none."""

    share: str
    words: str
    passed: str
    basis: str
    method: str
    bar: str
    between: str = ""
    low: str = ""
    width: str = ""


def _shown_rate(rate: Rate) -> ShownRate:
    is_whole = rate.total in (None, rate.n)
    low, high = rate.interval or (0.0, 0.0)
    return ShownRate(
        share=percent(rate.share),
        words=words(rate, "rate"),
        passed=f"{rate.passed:,} of {rate.n:,}",
        basis=f"{rate.n:,}" if is_whole else f"{rate.n:,}/{rate.total:,}",
        method=str(rate.method),
        bar="" if rate.share is None else f"{100 * rate.share:.2f}",
        between=between(rate) if rate.interval else "",
        low=f"{100 * low:.2f}",
        width=f"{100 * (high - low):.2f}",
    )


class ShownCell:
    """A cell of a table, for the template of its kind.

    Attributes:
        text: A plain value in words; "" for a value that is more than words.
    """

    def __init__(
        self, value: Cell, column: Column, look: str = "", *, is_heading: bool = False
    ) -> None:
        self.value = value
        self.column = column
        self.look = look
        self.is_heading = is_heading
        kind = _kind(value, column.form, look)
        self.template = f"reports/documents/cells/{kind}.html"
        self.text = words(value, column.form) if kind == "text" else ""

    @cached_property
    def heat(self) -> str:
        """The shade of a cell of a heat map in percent; "" for none."""
        is_shaded = self.column.form in SHADED or isinstance(self.value, Link)
        return heat(self.value) if self.look == "heat" and is_shaded else ""

    @property
    def css(self) -> str:
        """The class that aligns numbers and keeps columns of phrases and sentences wide."""
        if is_number(self.column):
            return "eh-num"
        text = self.value.text if isinstance(self.value, Link) else self.value
        length = len(text) if isinstance(text, str) else 0
        return "eh-sentence" if length > 80 else "eh-phrase" if length > 25 else ""

    @property
    def parts(self) -> list["ShownCell"]:
        return [ShownCell(part, self.column) for part in self.value]

    @property
    def separator(self) -> str:
        return " " if self.column.form in ("outcome", "verdict") else ", "

    @cached_property
    def inside(self) -> "ShownCell":
        """The cell without its link."""
        return ShownCell(self.value.value, self.column, self.look)

    @property
    def rate(self) -> ShownRate:
        return _shown_rate(self.value)

    @property
    def estimate(self) -> tuple[str, str]:
        """The number, and its basis."""
        number, _, basis = words(self.value, "estimate").partition(" ")
        return number, basis

    @property
    def badge(self) -> str:
        return VERDICT_BADGES.get(self.value, "")


def _kind(value: Cell, form: Form, look: str) -> str:
    if isinstance(value, Rate):
        return "heat_rate" if look == "heat" else "rate"
    for kind in (Link, Linked, Estimate):
        if isinstance(value, kind):
            return kind.__name__.lower()
    if isinstance(value, tuple) and value:
        return "several"
    if value and form in ("outcome", "verdict"):
        return "outcome" if value in OUTCOMES else "verdict"
    return "text"


@register.simple_tag
def shown(table: Table, rows: Iterable[tuple[Cell, ...]]) -> Iterator[list[ShownCell]]:
    """Yield the cells of each row, the heading of the row first."""
    for row in rows:
        first, *others = zip(row, table.columns, strict=True)
        yield [
            ShownCell(*first, is_heading=True),
            *(ShownCell(value, column, table.look) for value, column in others),
        ]


def heat(value: Cell) -> str:
    """Return the shade of a value in percent; "" for none."""
    value = value.value if isinstance(value, Linked) else value
    share = value.value if isinstance(value, Estimate) else getattr(value, "share", value)
    return "" if not isinstance(share, float) else str(round(100 * share))


@register.filter
def headline(fact: Fact) -> tuple[str, str]:
    """Return a headline number, and its basis to be written small."""
    text, _, rest = words(fact.value, fact.form).partition(" (")
    if not isinstance(fact.value, Rate | Estimate) or not rest:
        return words(fact.value, fact.form), ""
    return text, rest.removesuffix(")")


@register.filter
def outcome_label(outcome: str) -> str:
    return OUTCOMES[outcome].label if outcome in OUTCOMES else code_words(outcome)


@register.simple_tag
def method_note(rows: Sequence[tuple[Cell, ...]]) -> str:
    """Render the methods of the intervals in these rows."""
    return interval_note(rows)


@register.simple_tag
def figure_svg(table: Table) -> SafeString:
    """Draw the figure in the file itself."""
    return mark_safe(svg_of(table.figure, table.describes or table.title) if table.figure else "")


@register.simple_tag
def figure_script(table: Table) -> SafeString:
    """Render the figure's JSON for the page's script."""
    return json_script(table.figure, f"figure-{table.key}")
