"""The table of incomplete runs, below every figure that leaves them out."""

from collections.abc import Iterable, Iterator

from django.urls import reverse

from evalhub.models import User
from reports.documents.document import Cell, Column, Link, Table
from reports.documents.links import run_url
from reports.queries.incomplete_runs import IncompleteRun
from runs.completeness import LEAST_IN_WORDS

CONTROL = "runs.control_run"


NOTE = (
    f"Less than {LEAST_IN_WORDS} of their results are scored, and what is missing is seldom a "
    "random part. Retry what failed, or have annotators score what no judge scores."
)


def incomplete_table(
    runs: Iterable[IncompleteRun], reader: User, *, is_left_out: bool = True
) -> Iterator[Table]:
    """Yield the table of these runs, each with the button that completes it; nothing without.

    Args:
        is_left_out: The figures above leave them out.
    """
    may_retry = reader.has_perm(CONTROL)
    if rows := [_row(one, may_retry=may_retry) for one in runs]:
        yield Table(
            key="incomplete",
            title="Incomplete runs",
            columns=(
                Column("run", "Run", "link"),
                Column("model", "Model"),
                Column("suite", "Suite"),
                Column("date", "Date", "date"),
                Column("scored", "Scored", "count"),
                Column("total", "All results", "count"),
                Column("lacks", "Missing"),
                Column("retry", "Complete it", "link"),
            ),
            rows=rows,
            note=f"Not counted above. {NOTE}" if is_left_out else NOTE,
            look="long",
        )


def _row(one: IncompleteRun, *, may_retry: bool) -> tuple[Cell, ...]:
    run = one.run
    return (
        Link(run.label, run_url(run)),
        run.model_name,
        run.suite.name if run.suite else None,
        run.created_at,
        one.counts.scored,
        one.counts.total,
        one.lacks,
        retry_link(run.pk, one.retryable) if may_retry and one.retryable else None,
    )


def retry_links(runs: Iterable[IncompleteRun], reader: User) -> Iterator[Link]:
    """Yield a link to "Retry failed" for each run that the reader may retry."""
    if reader.has_perm(CONTROL):
        yield from (retry_link(one.run.pk, one.retryable) for one in runs if one.retryable)


def retry_link(run: int, failed: int) -> Link:
    """Return the link to "Retry failed", which asks for confirmation."""
    return Link(f"Retry failed ({failed:,})", retry_url(run))


def retry_url(run: int) -> str:
    """Return the page that confirms "Retry failed"."""
    return f"{reverse('admin:runs_run_control', args=[run])}?act=retry_errors"
