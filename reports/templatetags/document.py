"""Cells, charts and pages of a report's tables.

Cells are written as strings with Python's own `html.escape`: a page has thousands of them, and
`format_html` takes many times as long.
"""

import html
from collections.abc import Iterable, Sequence
from typing import Any

from django import template
from django.core.paginator import Page, Paginator
from django.http import HttpRequest
from django.utils.html import format_html, json_script
from django.utils.safestring import SafeString, mark_safe

from evalhub.display.formatting import DASH, percent
from evalhub.drawing.figure import svg_of
from evalhub.outcomes import OUTCOMES
from reports.documents.cells import between, interval_note, rate_words, words
from reports.documents.document import Cell, Column, Estimate, Fact, Form, Link, Linked, Table
from reports.documents.reading import COMPUTE
from reports.templatetags.report import outcome_badge, rate_marks
from runs.figures.rate import Rate
from runs.templatetags.rates import scored_badge

register = template.Library()

PAGE = 50
NUMBERS: frozenset[Form] = frozenset(
    ("count", "share", "points", "size", "score", "p", "number", "usd", "ms", "estimate")
)


SHADED: frozenset[Form] = frozenset(("rate", "share", "score", "estimate"))
"""Formats that a heat map shades: other numbers are not in [0, 1]."""


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


@register.simple_tag
def body(table: Table, rows: Iterable[tuple[Cell, ...]]) -> SafeString:
    """Render these rows; a template would take several times as long."""
    classes = ["eh-num" if is_number(column) else "" for column in table.columns]
    return mark_safe("".join(_row(table, classes, row) for row in rows))


def _row(table: Table, classes: Sequence[str], row: tuple[Cell, ...]) -> str:
    """Render a row; its first cell is the heading."""
    places = zip(row, table.columns, classes, strict=True)
    cells = [
        _data(value, column, name, table.look)
        if place
        else f'<th scope="row" class="{name or _room(value)}">{cell(value, column)}</th>'
        for place, (value, column, name) in enumerate(places)
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _data(value: Cell, column: Column, name: str, look: str) -> str:
    share = _shading(value, column, look)
    inside = cell(value, column, look)
    if share:
        return f'<td class="eh-heat" style="--heat: {share}%">{inside}</td>'
    return f'<td class="{name or _room(value)}">{inside}</td>'


def _room(value: Cell) -> str:
    """Return the class that keeps a column of phrases or of sentences wide enough."""
    text = value.text if isinstance(value, Link) else value
    length = len(text) if isinstance(text, str) else 0
    return "eh-sentence" if length > 80 else "eh-phrase" if length > 25 else ""


def _shading(value: Cell, column: Column, look: str) -> str:
    if look != "heat" or not (column.form in SHADED or isinstance(value, Link)):
        return ""
    return heat(value)


@register.simple_tag
def shade(value: Cell, column: Column, table: Table) -> SafeString:
    """Return the attribute that shades a cell of a heat map in a file."""
    share = _shading(value, column, table.look)
    return format_html(' style="--heat: {}%"', share) if share else mark_safe("")


def cell(value: Cell, column: Column, look: str = "") -> str:
    """Return the HTML of a value of a table, with its link, badge or bar."""
    if value is None or isinstance(value, str | int | float):
        return _plain(value, column)
    if isinstance(value, tuple):
        between_parts = " " if column.form in ("outcome", "verdict") else ", "
        return between_parts.join(cell(part, column) for part in value) if value else DASH
    if isinstance(value, Link):
        return _link(value)
    if isinstance(value, Linked):
        inside = cell(value.value, column, look)
        return f'<a href="{_escaped(value.url)}">{inside}</a>'
    if isinstance(value, Rate):
        return _rate(value, look)
    if isinstance(value, Estimate):
        text, _, rest = words(value, "estimate").partition(" ")
        return f'{_escaped(text)} <small class="eh-muted eh-nowrap">{_escaped(rest)}</small>'
    return _plain(value, column)


def _plain(value: Cell, column: Column) -> str:
    if column.form in ("outcome", "verdict") and value:
        if value in OUTCOMES:
            return outcome_badge(value)
        colour = VERDICT_COLOURS.get(value, "")
        return f'<span class="eh-badge{colour}">{_escaped(value)}</span>'
    return _escaped(words(value, column.form))


VERDICT_COLOURS = {
    "worse": " eh-badge--failed",
    "better": " eh-badge--passed",
    "same": " eh-badge--pending",
}


def _escaped(text: object) -> str:
    return html.escape(str(text))


def _link(link: Link) -> str:
    text = _escaped(link.text)
    shown = f'<a href="{_escaped(link.url)}">{text}</a>' if link.url else text
    if link.rows:
        shown = (
            '<button type="button" class="eh-expand eh-no-print" aria-expanded="false"'
            f' aria-label="Results of {text}" data-rows="{_escaped(link.rows)}"></button> {shown}'
        )
    if link.note:
        shown += f' <small class="eh-muted">{_escaped(link.note)}</small>'
    return shown


def _rate(rate: Rate, look: str) -> str:
    """Return the HTML of a bar with numbers, in a heat map of numbers; none needs escaping."""
    if look == "heat":
        is_whole = rate.total in (None, rate.n)
        of = f"{rate.n:,}" if is_whole else f"{rate.n:,}/{rate.total:,}"
        n = f'<small class="eh-muted">of {of}</small>'
        return f'<span title="{rate_words(rate)}">{percent(rate.share)} {n}</span>'
    if rate.share is None:
        if rate.total is None:
            return format_html('<span class="eh-muted">{} 0 scored</span>', DASH)
        return format_html('<span class="eh-muted">{}</span>{}', DASH, scored_badge(rate))
    interval = (
        f', <span title="95% interval: {rate.method}">{between(rate)}</span>'
        if rate.interval
        else ""
    )
    return (
        f'<span class="eh-rate"><span class="eh-rate-track">'
        f"{rate_marks(rate.share, rate.interval)}</span>"
        f'<span class="eh-num">{percent(rate.share)}</span></span>'
        f' <small class="eh-muted eh-nowrap">{rate.passed:,} of {rate.n:,}{interval}</small>'
        f"{scored_badge(rate)}"
    )


def heat(value: Cell) -> str:
    """Return the shade of a cell in percent; "" for none."""
    value = value.value if isinstance(value, Linked) else value
    share = value.value if isinstance(value, Estimate) else getattr(value, "share", value)
    return "" if not isinstance(share, float) else str(round(100 * share))


@register.simple_tag
def headline(fact: Fact) -> SafeString:
    """Render a headline number large and its basis small."""
    text, _, rest = words(fact.value, fact.form).partition(" (")
    if not isinstance(fact.value, Rate | Estimate) or not rest:
        return format_html("<strong>{}</strong>", words(fact.value, fact.form))
    small = '<strong>{}</strong><span class="eh-muted">{}</span>'
    return format_html(small, text, rest.removesuffix(")"))


@register.simple_tag
def method_note(rows: Sequence[tuple[Cell, ...]]) -> str:
    """Render the methods of the intervals in these rows."""
    return interval_note(rows)


@register.filter
def as_words(value: Cell, form: Form) -> str:
    return words(value, form)


@register.filter
def beside(row: tuple[Cell, ...], columns: tuple[Column, ...]) -> list[tuple[Cell, Column]]:
    """Return each value of a row with its column."""
    return list(zip(row, columns, strict=True))


@register.simple_tag
def figure_svg(table: Table) -> SafeString:
    """Draw the figure in the file itself."""
    return mark_safe(svg_of(table.figure, table.describes or table.title) if table.figure else "")


@register.simple_tag
def figure_script(table: Table) -> SafeString:
    """Render the figure's JSON for the page's script."""
    return json_script(table.figure, f"figure-{table.key}")
