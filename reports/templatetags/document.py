"""Cells, charts and pages of a report's tables."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import template
from django.core.paginator import Page, Paginator
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest
from django.utils.safestring import SafeString, mark_safe

from evalhub.display.formatting import clip, percent
from evalhub.display.formatting import words as code_words
from evalhub.display.outcomes import OUTCOMES
from evalhub.drawing.figure import svg_of
from reports.documents.cells import between, interval_note, words
from reports.documents.document import Cell, Column, Estimate, Fact, Format, Link, Linked, Table
from reports.documents.reading import COMPUTE
from reports.limits import TABLE_PAGE_SIZE
from runs.figures.rate import Rate

register = template.Library()

NUMBERS: frozenset[Format] = frozenset(
    ("count", "share", "points", "size", "score", "p", "number", "usd", "ms", "estimate")
)

SHADED: frozenset[Format] = frozenset(("rate", "share", "score", "estimate"))
"""Formats that a heat map shades: other numbers are not in [0, 1]."""

BADGES: dict[Format, dict[str, str]] = {
    "outcome": {"passes": "passed", "fails": "failed"},
    "verdict": {"worse": "failed", "better": "passed", "same": "pending"},
}
"""Formats shown as badges, and the colours of values that are no outcome."""

EXCERPT = 200
"""Characters of an excerpt; files have the whole text."""

COMPOSED = (Rate, Estimate, Link, Linked, tuple)


@register.filter
def is_number(column: Column) -> bool:
    """Return True for right-aligned columns."""
    return column.form in NUMBERS


@register.simple_tag(takes_context=True)
def page_of_rows(context: dict[str, Any], table: Table) -> Page:
    """Return the page of rows that the address asks for; a file has them all."""
    request: HttpRequest | None = context.get("request")
    if request is None:
        return Paginator(table.rows, max(1, len(table.rows))).page(1)
    return Paginator(table.rows, TABLE_PAGE_SIZE).get_page(request.GET.get(f"{table.key}-page", 1))


@register.simple_tag
def split_rows(table: Table, page: Page) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the rows of the page that are shown, and those behind a line."""
    rows: Any = page.object_list
    if table.shown is None or not page.paginator.count:
        return rows, ()
    n = max(0, table.shown - (page.start_index() - 1))
    return rows[:n], rows[n:]


@register.simple_tag(takes_context=True)
def page_query(context: dict[str, Any], table: Table, number: int) -> str:
    """Return the query string for another page of this table."""
    query = context["request"].GET.copy()
    query.pop(COMPUTE, None)
    query[f"{table.key}-page"] = str(number)
    return f"?{query.urlencode()}#{table.key}"


def parts_of(value: Cell, form: Format, look: str, site: str) -> list[dict[str, Any]]:
    """Return what `rows.html` shows of a value, in order; links begin with the site's address."""
    if isinstance(value, Linked):
        inside = parts_of(value.value, form, look, site)
        return [part | {"url": f"{site}{value.url}"} for part in inside]
    if isinstance(value, tuple):
        several = [part for one in value for part in parts_of(one, form, "", site)]
        separator = " " if form in BADGES else ", "
        return [*several[:1], *(part | {"before": separator} for part in several[1:])]
    part: dict[str, Any] = {"before": "", "url": "", "rows": "", "note": ""}
    if isinstance(value, Rate):
        return [part | _rate(value, look)]
    if isinstance(value, Link):
        part |= {"url": value.url and f"{site}{value.url}", "rows": value.rows, "note": value.note}
        return [part | {"kind": "text", "text": value.text}]
    text = words(value, form)
    if isinstance(value, Estimate):
        number, _, basis = text.partition(" ")
        return [part | {"kind": "estimate", "text": number, "basis": basis}]
    if value and form in BADGES:
        badge = value if value in OUTCOMES else BADGES[form].get(value, "")
        return [part | {"kind": "badge", "text": text, "badge": badge}]
    return [part | {"kind": "text", "text": text}]


def _rate(rate: Rate, look: str) -> dict[str, Any]:
    """Return a rate in words, and the places of its bar and interval in percent; "" for none."""
    shown: dict[str, Any] = {"rate": rate, "share": percent(rate.share)}
    if look == "heat":
        is_whole = rate.total in (None, rate.n)
        basis = f"{rate.n:,}" if is_whole else f"{rate.n:,}/{rate.total:,}"
        return shown | {"kind": "heat", "basis": basis, "words": words(rate, "rate")}
    low, high = rate.interval or (0.0, 0.0)
    return shown | {
        "kind": "rate",
        "passed": f"{rate.passed:,} of {rate.n:,}",
        "bar": "" if rate.share is None else f"{100 * rate.share:.2f}",
        "between": between(rate) if rate.interval else "",
        "low": f"{100 * low:.2f}",
        "width": f"{100 * (high - low):.2f}",
    }


def _excerpt(value: Cell) -> Cell:
    if isinstance(value, Link):
        return replace(value, text=clip(value.text, EXCERPT))
    return clip(value, EXCERPT) if isinstance(value, str) else value


def _css(value: Cell, form: Format) -> str:
    """Return the class that aligns numbers and keeps columns of phrases and sentences wide."""
    if form in NUMBERS:
        return "eh-num"
    text = value.text if isinstance(value, Link) else value
    length = len(text) if isinstance(text, str) else 0
    return "eh-sentence" if length > 80 else "eh-phrase" if length > 25 else ""


@register.simple_tag(takes_context=True)
def shown(
    context: dict[str, Any], table: Table, rows: Iterable[tuple[Cell, ...]]
) -> Iterator[list[dict[str, Any]]]:
    """Yield the cells of each row, its heading first: words, or parts for all that is more.

    They are dictionaries with every key, as a template reads nothing faster.
    """
    site, is_page = context.get("base_url", ""), context.get("request") is not None
    for row in rows:
        cells: list[dict[str, Any]] = []
        for value, column in zip(row, table.columns, strict=True):
            form, look = column.form, table.look if cells else ""
            if form == "excerpt" and is_page:
                value = _excerpt(value)
            is_shaded = look == "heat" and (form in SHADED or isinstance(value, Link))
            is_plain = not isinstance(value, COMPOSED) and not (value and form in BADGES)
            cell = {
                "is_heading": not cells,
                "heat": heat(value) if is_shaded else "",
                "css": _css(value, form),
                "text": words(value, form) if is_plain else "",
                "parts": () if is_plain else parts_of(value, form, look, site),
            }
            cells.append(cell)
        yield cells


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


@register.filter
def as_json(figure: Mapping[str, Any]) -> str:
    """Return the figure for the page's script, to be escaped as an attribute."""
    return json.dumps(figure, cls=DjangoJSONEncoder)
