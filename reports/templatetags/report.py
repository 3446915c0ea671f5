"""Badges, bars and marks of reports."""

from collections.abc import Sequence
from html import escape
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from evalhub.display.formatting import DASH, clip, score
from evalhub.outcomes import OUTCOMES
from evalhub.statistics.interval import Interval
from reports.documents.links import row_url
from reports.queries.rate_lines import Line
from reports.queries.result_rows import CriterionCell, JudgeCell, JudgeColumn, Row
from reports.similarity.query import Variant
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
def outcome_badge(outcome: str) -> SafeString:
    label = OUTCOMES[outcome].label
    return mark_safe(f'<span class="eh-badge eh-badge--{outcome}">{label}</span>')


@register.simple_tag
def filter_query(filters: Any, **changes: Any) -> str:
    """Return the query string of the same view with some parts changed."""
    changes = {
        name: (value,) if name == "outcomes" and value else value for name, value in changes.items()
    }
    return "?" + str(filters.query(**changes))


MAX_OPTIONS = 200


@register.simple_tag
def issue_options(lines: Sequence[Line], chosen: int | None) -> SafeString:
    """Render options for the worst issues and the chosen one."""
    offered = [*lines[:MAX_OPTIONS], *(o for o in lines[MAX_OPTIONS:] if o.issue_id == chosen)]
    options = (
        f'<option value="{line.issue_id}"{" selected" * (line.issue_id == chosen)}>'
        f"{escape(clip(line.name, 60))}</option>"
        for line in offered
    )
    return mark_safe("".join(options))


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


def rate_marks(share: float, interval: Interval | None) -> SafeString:
    """Render a bar of the share, with a whisker for its interval."""
    bar = f'<span class="eh-rate-bar eh-fill--passed" style="width: {100 * share:.2f}%"></span>'
    if interval is None:
        return mark_safe(bar)
    low, high = interval
    place = f"left: {100 * low:.2f}%; width: {100 * (high - low):.2f}%"
    return mark_safe(f'{bar}<span class="eh-rate-whisker" style="{place}"></span>')


@register.simple_tag
def excluded(counts: Counts) -> SafeString:
    """Return a badge for each outcome that the rates exclude."""
    found = ((name, OUTCOMES[name].counted(n)) for name, n in counts.excluded.items() if n)
    return format_html_join(" ", '<span class="eh-badge eh-badge--{}">{}</span>', found)


@register.simple_tag
def judge_mark(cell: JudgeCell) -> SafeString:
    """Render a judge's score as a mark coloured from fail to pass; a failed one is crossed."""
    title = escape(cell.in_words)
    if cell.value is None:
        return mark_safe(f'<span class="eh-vote eh-vote--none" title="{title}">×</span>')
    title += f", {cell.failed} failed" if cell.failed else ""
    share = f"--share: {round(100 * cell.value)}%"
    given = score(cell.value)
    return mark_safe(f'<span class="eh-vote" style="{share}" title="{title}">{given}</span>')


@register.filter
def judge_cell_of(row: Row, judge: JudgeColumn) -> JudgeCell | None:
    return row.judge_cell_of(judge.judge_id)


@register.filter
def cosine(value: float | None) -> str:
    """Return a cosine with two digits; a dash where it is not measured."""
    return DASH if value is None else f"{value:.2f}".replace("-0.00", "0.00")


@register.simple_tag
def similarity_cell(value: float | None, variant: Variant, number: int) -> SafeString:
    """Render a cell of the similarity table; darker is more similar."""
    if value is None:
        return format_html('<td class="eh-similarity-cell" title="not measured">{}</td>', DASH)
    cell = '<td class="eh-similarity-cell" style="--share: {}%" title="{} and {}">{}</td>'
    return format_html(
        cell, round(100 * max(0.0, value)), variant.run.model_name, number, cosine(value)
    )


@register.simple_tag
def criteria_strip(criteria: Sequence[CriterionCell]) -> SafeString:
    """Render a rubric as a strip with a piece per criterion, as wide as its weight."""
    pieces = format_html_join(
        "",
        '<span class="eh-part{}" style="--share: {}%; flex-grow: {}" title="{}"></span>',
        (
            (
                " eh-part--none" if criterion.score is None else "",
                round(100 * (criterion.score or 0)),
                criterion.weight,
                f"criterion {number}: {score(criterion.score)}, weight {criterion.weight:g}"
                + (", judges split" if criterion.is_split else ""),
            )
            for number, criterion in enumerate(criteria, 1)
        ),
    )
    return format_html(
        '<span class="eh-parts" role="img" aria-label="{} criteria: {}">{}</span>',
        len(criteria),
        ", ".join(score(criterion.score) for criterion in criteria),
        pieces,
    )


@register.simple_tag
def result_query(run: Run, filters: Filters) -> str:
    """Return the query string that a result's page needs to move within the same view."""
    return f"run={run.pk}&{filters.query(page=filters.page)}".rstrip("&")
