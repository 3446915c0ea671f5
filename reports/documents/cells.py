"""A report's values as text, as spreadsheet columns and as JSON."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone

from evalhub.display import formatting
from evalhub.display.outcomes import OUTCOMES
from evalhub.statistics.rates.rate_interval import Method
from evalhub.statistics.rates.wilson import wilson_interval
from reports.documents.document import Cell, Column, Estimate, Format, Link, Linked
from runs.comparison.completeness import scored_words
from runs.figures.rate import Rate, rate_of_issues

BY_TEST_MARK = "†"
"""Mark of an interval by test, which does not account for issues; explained below each table."""


def words(value: Cell, form: Format) -> str:
    """Return a value as text; a dash where it was not measured."""
    if value is None:
        return formatting.DASH
    # Plain values come first: most cells have one.
    if isinstance(value, str):
        return WRITERS[form](value) if form in ("verdict", "outcome") else value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return WRITERS.get(form, str)(value)
    if isinstance(value, tuple):
        return ", ".join(words(part, form) for part in value)
    if isinstance(value, Link):
        return f"{value.text} {value.note}".strip()
    if isinstance(value, Linked):
        return words(value.value, form)
    if isinstance(value, Rate):
        return rate_words(value)
    if isinstance(value, Estimate):
        n = f"n = {value.n:,}" if value.total is None else scored_words(value.n, value.total)
        if value.value is None:
            return f"{formatting.DASH} ({n})"
        low, high = map(formatting.score, value.interval or (None, None))
        interval = f", {low} to {high}" if value.interval else ""
        return f"{formatting.score(value.value)} ({n}{interval})"
    if isinstance(value, datetime):
        return f"{timezone.localtime(value):%Y-%m-%d %H:%M}"
    return WRITERS.get(form, str)(value)


def number(value: float) -> str:
    text = f"{value:,.3g}" if isinstance(value, float) else f"{value:,}"
    return f"−{text[1:]}" if text.startswith("-") else text


WRITERS: dict[Format, Callable[[Any], str]] = {
    "share": formatting.percent,
    "points": formatting.points,
    "size": lambda size: formatting.points(size).removeprefix("+"),
    "score": formatting.score,
    "p": formatting.p_value,
    "usd": formatting.usd,
    "ms": formatting.seconds,
    "count": formatting.count,
    "number": number,
    "verdict": formatting.words,
    # Anything more specific than an outcome stays as it is.
    "outcome": lambda outcome: OUTCOMES[outcome].label if outcome in OUTCOMES else outcome,
}


def rate_words(rate: Rate) -> str:
    scored = rate.scored_words
    if rate.share is None:
        return f"{formatting.DASH} ({scored or '0 scored'})"
    interval = f", {between(rate)}" if rate.interval else ""
    of = f"{rate.passed:,} of {rate.n:,}{interval}{scored and f', {scored}'}"
    return f"{formatting.percent(rate.share)} ({of})"


def between(rate: Rate) -> str:
    """Return the interval of a rate, with a mark if it does not account for issues."""
    mark = "" if rate.accounts_for_issues else BY_TEST_MARK
    return f"{formatting.between(rate.interval)}{mark}"


def interval_note(rows: Iterable[Sequence[Cell]]) -> str:
    """Return the methods of the intervals of these rows' rates, as a note; "" without any."""
    values = (cell.value if isinstance(cell, Linked) else cell for row in rows for cell in row)
    used = {value.method for value in values if isinstance(value, Rate)} - {Method.NONE}
    named = [
        f"{BY_TEST_MARK} {method}" if method in (Method.BY_TEST, Method.BY_CLAIM) else str(method)
        for method in Method
        if method in used
    ]
    return f"95% intervals: {'; '.join(named)}." if named else ""


PARTS: dict[Format, tuple[str, ...]] = {
    "rate": ("passed", "n", "total", "share", "low", "high", "method"),
    "estimate": ("", "n", "total", "low", "high"),
}
"""The columns of a spreadsheet that a value takes: an estimate in a column `score` becomes `score`,
`score_n`, `score_total`, `score_low` and `score_high`."""


def headings(columns: Sequence[Column]) -> list[str]:
    """Return the names of a spreadsheet's columns."""
    return [
        f"{column.name}_{part}".rstrip("_")
        for column in columns
        for part in PARTS.get(column.form, ("",))
    ]


def flat(row: Sequence[Cell], columns: Sequence[Column]) -> list[Any]:
    """Return a row for `headings` in full precision; None is not measured."""
    return [
        part
        for value, column in zip(row, columns, strict=True)
        for part in _parts(value, column.form)
    ]


def _parts(value: Cell, form: Format) -> tuple[Any, ...]:
    if isinstance(value, Linked):
        return _parts(value.value, form)
    if form not in PARTS:
        return (_single(value),)
    if value is None:
        return (None,) * len(PARTS[form])
    bounds = value.interval or (None, None)
    if form == "rate":
        return (value.passed, value.n, value.total, value.share, *bounds, str(value.method))
    return (value.value, value.n, value.total, *bounds)


def _single(value: Cell) -> Any:
    if isinstance(value, Link):
        return value.text
    if isinstance(value, tuple):
        return "; ".join(str(_single(part)) for part in value)
    if isinstance(value, datetime):
        return value.isoformat()
    return value


def as_json(value: Cell) -> Any:
    """Return a value as JSON in full precision; null is not measured."""
    if isinstance(value, Linked):
        return as_json(value.value)
    if isinstance(value, Rate):
        return {
            "passed": value.passed,
            "n": value.n,
            "total": value.total,
            "share": value.share,
            "interval": value.interval and value.interval._asdict(),
            "method": value.method,
        }
    if isinstance(value, Estimate):
        interval = value.interval and value.interval._asdict()
        return {
            "value": value.value,
            "n": value.n,
            "total": value.total,
            "interval": interval,
        }
    if isinstance(value, Link):
        return {"text": value.text, "url": value.url, "note": value.note}
    if isinstance(value, tuple):
        return [as_json(part) for part in value]
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, datetime) else value


def share_of(part: int, whole: int) -> Rate:
    """Return `part` of `whole` independent things, with Wilson's interval."""
    if not whole:
        return Rate(part, whole, None)
    return Rate(part, whole, part / whole, wilson_interval(part, whole), Method.WILSON)


def share_without_interval(part: int, whole: int, *, total: int | None = None) -> Rate:
    """Return the share of things that are not independent and whose issues are not known."""
    return Rate(part, whole, part / whole if whole else None, total=total)


def issue_rate(passed: int, scored: int, *, answers: int, total: int) -> Rate:
    """Return the pass rate of a single issue, with as many answers to each test."""
    return rate_of_issues([(passed, scored)], answers=answers, total=total)
