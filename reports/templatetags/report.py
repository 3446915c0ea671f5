"""Filters, counts and addresses of reports."""

from collections.abc import Sequence
from typing import Any

from django import template

from evalhub.display.formatting import DASH
from evalhub.display.outcomes import OUTCOMES
from reports.documents.links import row_url
from reports.queries.rate_lines import Line
from reports.queries.result_rows import JudgeCell, JudgeColumn, Row
from runs.figures.tallies import Counts
from runs.models import Run
from runs.result_list.filters import Filters

register = template.Library()
register.simple_tag(row_url)


@register.filter
def of_total(n: int, total: int) -> float:
    """Return the width of a bar in percent; 0 for a total of 0."""
    return round(100 * n / total, 3) if total else 0.0


@register.simple_tag
def filter_query(filters: Any, **changes: Any) -> str:
    """Return the query string of the same view with some parts changed."""
    changes = {
        name: (value,) if name == "outcomes" and value else value for name, value in changes.items()
    }
    return "?" + str(filters.query(**changes))


MAX_OPTIONS = 200


@register.filter
def offered(lines: Sequence[Line], chosen: int | None) -> list[Line]:
    """Return the worst issues and the chosen one."""
    return [*lines[:MAX_OPTIONS], *(o for o in lines[MAX_OPTIONS:] if o.issue_id == chosen)]


@register.filter
def times(n: int) -> range:
    return range(n)


@register.simple_tag
def outcomes() -> list[tuple[str, str]]:
    """Return each outcome with its label."""
    return [(name, style.label) for name, style in OUTCOMES.items()]


@register.simple_tag
def count(counts: Counts, outcome: str) -> int:
    return counts.as_dict()[outcome]


@register.filter
def judge_cell_of(row: Row, judge: JudgeColumn) -> JudgeCell | None:
    return row.judge_cell_of(judge.judge_id)


@register.filter
def cosine(value: float | None) -> str:
    """Return a cosine with two digits; a dash where it is not measured."""
    return DASH if value is None else f"{value:.2f}".replace("-0.00", "0.00")


@register.filter
def percents(share: float | None) -> int:
    """Return a share as whole percents for a style, 0 where it is negative or not measured."""
    return round(100 * max(0.0, share or 0.0))


@register.simple_tag
def result_query(run: Run, filters: Filters) -> str:
    """Return the query string that a result's page needs to move within the same view."""
    return f"run={run.pk}&{filters.query(page=filters.page)}".rstrip("&")
