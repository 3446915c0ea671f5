"""How a report's figures look on a page: badges, bars, marks and links."""

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from evalhub.charts import LONGEST_LABEL
from evalhub.formatting import DASH, between, percent, score
from evalhub.outcomes import OUTCOMES
from evalhub.statistics.interval import Interval
from reports.documents.cells import points as in_points
from reports.queries.rate_lines import Line
from reports.queries.result_rows import CriterionCell, JudgeCell, JudgeColumn, Row
from reports.similarity.query import Variant
from runs.figures.filters import Filters
from runs.figures.tallies import Counts
from runs.models import Run

register = template.Library()


@register.filter
def points(difference: float) -> str:
    """A difference of two shares in percentage points, with its sign."""
    return in_points(difference)


@register.filter
def short(digest: str) -> str:
    return digest[:8]


@register.filter
def of_total(n: int, total: int) -> float:
    """Percent for the width of a bar; 0 of nothing is nothing."""
    return round(100 * n / total, 3) if total else 0.0


@register.filter
def spot(value: float) -> int:
    """A share in [0, 1] as the percent of a bar's length."""
    return round(100 * value)


@register.simple_tag
def outcome_badge(outcome: str) -> SafeString:
    label = OUTCOMES[outcome].label
    return format_html('<span class="eh-badge eh-badge--{}">{}</span>', outcome, label)


@register.simple_tag
def filter_query(filters: Any, **changes: Any) -> str:
    """The query string of the same view with some parts changed."""
    changes = {
        name: (value,) if name == "outcomes" and value else value for name, value in changes.items()
    }
    return "?" + str(filters.query(**changes))


@register.simple_tag
def line_query(filters: Filters, name: str, value: Any) -> str:
    """The query string of one line's results, all of them, in the order and columns chosen."""
    view = Filters(sort=filters.sort, by_judge=filters.by_judge)
    return "?" + view.query(**{name: value})


MOST_OPTIONS = 200


@register.simple_tag
def issue_options(lines: Sequence[Line], chosen: int | None) -> SafeString:
    """A choice for each of the worst issues, and for the one that is chosen."""
    offered = [*lines[:MOST_OPTIONS], *(o for o in lines[MOST_OPTIONS:] if o.issue_id == chosen)]
    return mark_safe("".join(_option(line, chosen) for line in offered))


def _option(line: Line, chosen: int | None) -> str:
    selected = " selected" if line.issue_id == chosen else ""
    name = escape(clip(line.name, LONGEST_LABEL))
    return f'<option value="{line.issue_id}"{selected}>{name}</option>'


@register.filter
def clip(text: str, length: int) -> str:
    """At most so many characters of a text."""
    return text if len(text) <= length else text[: length - 1] + "…"


@register.filter
def times(n: int) -> range:
    return range(n)


@register.simple_tag
def outcomes() -> list[tuple[str, str]]:
    """Return each outcome with its label."""
    return [(name, style.label) for name, style in OUTCOMES.items()]


ADVICE: dict[str, str] = {
    "rate_limited": "The provider asked for fewer calls: lower the model's concurrency or rate.",
    "timed_out": "Raise the model's time-out, or ask for shorter answers.",
    "refused_key": "Check the key in the environment variable that the model names.",
    "missing_key": "Set the environment variable that the model names, and restart the workers.",
    "not_found": "Check the model's name and base URL.",
    "bad_request": "The provider refused the parameters: look at the call's message.",
    "context_too_long": "The test is longer than the model can read.",
    "content_filtered": "The provider's filter stopped the answer.",
    "unreachable": "Check that the endpoint is up and the base URL right, then retry.",
    "empty_answer": "The model gave no text: look at its token limit.",
    "server_error": "The provider failed: retry later.",
    "forbidden_address": "Allow the address in EVALHUB_ALLOWED_ADDRESSES, or change the base URL.",
    "unreadable": "The judge did not answer in the form that was asked for.",
    "unreadable_reply": "What came back was no reply of a language model: check the base URL.",
    "check_error": "The check ended in an error: look at its arguments.",
    "cannot_run": "This check runs foreign code or reaches the network, so it is never run.",
    "echo": "The judge repeated a verdict that stands in the answer: it is not counted.",
    "worker_died": "A worker died while doing this: look at its log before you retry.",
    "no_answer": "There was no answer to judge.",
    "cancelled": "The call was under way when the run was cancelled.",
    "nothing_asked": "The conversation leaves nothing to answer: mend the test's messages.",
    "unaskable": "The judge's prompt cannot be made: look at the template and the test.",
    "internal": "An error of EvalHub itself: look at the worker's log, then retry.",
    "imported_error": "It came as an error from the system that it was imported from.",
}


@register.filter
def advice(kind: str) -> str:
    """What a person can do about an error of this kind; "" where nothing is known."""
    return ADVICE.get(kind, "")


@register.simple_tag
def count(counts: Counts, outcome: str) -> int:
    return counts.as_dict()[outcome]


@register.simple_tag
def count_share(counts: Counts, outcome: str) -> str:
    return percent(counts.as_dict()[outcome] / counts.total if counts.total else None)


@register.simple_tag
def flipped(interval: Interval | None) -> str:
    """The interval of the failure rate, from that of the pass rate."""
    return between(_flip(interval))


@register.simple_tag
def rate_marks(share: float, interval: Interval | None, flip: bool = False) -> SafeString:
    """A bar as long as the share, with a whisker for its interval.

    With `flip` the interval is the pass rate's while the share is the failure rate.
    """
    bar = format_html(
        '<span class="eh-rate-bar {}" style="width: {}%"></span>',
        "eh-fill--failed" if flip else "eh-fill--passed",
        _place(share),
    )
    shown = _flip(interval) if flip else interval
    if shown is None:
        return bar
    whisker = '<span class="eh-rate-whisker" style="left: {}%; width: {}%"></span>'
    length = f"{100 * (shown.high - shown.low):.2f}"
    return bar + format_html(whisker, _place(shown.low), length)


@register.simple_tag
def rate_bar(share: float | None, interval: Interval | None, flip: bool = False) -> SafeString:
    """A rate as a bar with its number; a dash where nothing was decided."""
    if share is None:
        return format_html('<span class="eh-muted">{}</span>', DASH)
    return format_html(
        '<span class="eh-rate"><span class="eh-rate-track">{}</span>'
        '<span class="eh-num">{}</span></span>',
        rate_marks(share, interval, flip),
        percent(share),
    )


@register.simple_tag
def excluded(counts: Counts) -> SafeString:
    """Return a badge for each outcome that the rates exclude."""
    found = ((name, OUTCOMES[name].counted(n)) for name, n in counts.excluded.items() if n)
    return format_html_join(" ", '<span class="eh-badge eh-badge--{}">{}</span>', found)


def _flip(interval: Interval | None) -> Interval | None:
    return None if interval is None else Interval(1 - interval.high, 1 - interval.low)


def _place(share: float) -> str:
    return f"{100 * share:.2f}"


@register.simple_tag
def vote_mark(vote: JudgeCell) -> SafeString:
    """A judge's vote as a mark whose colour runs from fail to pass; a failed one is crossed."""
    if vote.value is None:
        return format_html(
            '<span class="eh-vote eh-vote--none" title="{}: failed">×</span>', vote.judge
        )
    return format_html(
        '<span class="eh-vote" style="--share: {}%" title="{}: {}{}">{}</span>',
        round(100 * vote.value),
        vote.judge,
        score(vote.value),
        f", {vote.failed} failed" if vote.failed else "",
        score(vote.value),
    )


@register.filter
def judge_cell_of(row: Row, seat: JudgeColumn) -> JudgeCell | None:
    return row.judge_cell_of(seat.judge_id)


@register.filter
def cosine(value: float | None) -> str:
    """A cosine with two digits, which stand under each other; a dash where it is not measured."""
    return DASH if value is None else f"{value:.2f}".replace("-0.00", "0.00")


@register.simple_tag
def similarity_cell(value: float | None, variant: Variant, number: int) -> SafeString:
    """A cell of the table of cosines, of a variant and the one with a number; darker is nearer."""
    if value is None:
        return format_html('<td class="eh-alike-cell" title="not measured">{}</td>', DASH)
    cell = '<td class="eh-alike-cell" style="--share: {}%" title="{} and {}">{}</td>'
    return format_html(cell, spot(max(0.0, value)), variant.run.model_name, number, cosine(value))


@register.simple_tag
def parts_strip(parts: Sequence[CriterionCell]) -> SafeString:
    """A rubric as a strip: a piece for each criterion, as wide as its weight, from bad to good."""
    pieces = format_html_join(
        "",
        '<span class="eh-part{}" style="--share: {}%; flex-grow: {}" title="{}"></span>',
        (
            (
                " eh-part--none" if part.score is None else "",
                round(100 * (part.score or 0)),
                part.weight,
                f"criterion {number}: {score(part.score)}, weight {part.weight:g}"
                + (", judges split" if part.is_split else ""),
            )
            for number, part in enumerate(parts, 1)
        ),
    )
    return format_html(
        '<span class="eh-parts" role="img" aria-label="{}">{}</span>', _scores(parts), pieces
    )


def _scores(parts: Sequence[CriterionCell]) -> str:
    return f"{len(parts)} criteria: {', '.join(score(part.score) for part in parts)}"


@register.simple_tag
def result_query(run: Run, filters: Filters) -> str:
    """What a result's page needs to go to the next one of the same view."""
    return f"run={run.pk}&{filters.query(page=filters.page)}".rstrip("&")
