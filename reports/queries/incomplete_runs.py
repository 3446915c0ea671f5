"""Incomplete runs, of which too few results are scored to conclude anything, and their table.

`is_enough` of `runs.comparison.completeness` decides: 95 % are. Where models are ranked or watched
for drift, 95 % of the expected judgments are needed, too.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Sum
from django.urls import reverse

from evalhub.display.formatting import counted
from evalhub.display.outcomes import OUTCOMES
from evalhub.models import User
from reports.documents.document import Cell, Column, Link, Table
from reports.documents.links import run_url
from runs.comparison.completeness import LEAST_IN_WORDS, scored_words
from runs.figures.tallies import Counts, groups_of, tallies_of_runs
from runs.lifecycle.control import retryable_of
from runs.models import PARTLY_JUDGED, ResultScore, Run
from runs.models.run_queries import RunQuerySet

CONTROL = "runs.control_run"
NOTE = (
    f"Less than {LEAST_IN_WORDS} of their results are scored, and what is missing is seldom a "
    "random part. Retry what failed, or have annotators score what no judge scores."
)
SILENT = (
    f"Of some, less than {LEAST_IN_WORDS} of the expected judgments were given: the scores may be "
    "others with the silent judges. Retry them."
)


@dataclass(frozen=True)
class IncompleteRun:
    """A run that is left out of every conclusion.

    `retryable` results ended in an error, or a judgment on them did. `silent` judgments of those
    expected are missing: only counted where these are needed.
    """

    run: Run
    counts: Counts
    retryable: int
    silent: int = 0

    @property
    def warning(self) -> str:
        """A warning for pages that show it nevertheless, since the reader chose it."""
        scored = scored_words(self.counts.scored, self.counts.total)
        return (
            f"{self.run.label} is incomplete, {scored}: what is scored may be the easier part. "
            "Retry what failed before you conclude anything."
        )

    @property
    def lacks(self) -> str:
        """What is missing, such as "3 errors, 1 unscored, 12 judgments"."""
        excluded = self.counts.excluded.items()
        found = [OUTCOMES[outcome].counted(n) for outcome, n in excluded if n]
        return ", ".join([*found, *([counted(self.silent, "judgment")] if self.silent else [])])


def incomplete_runs(
    runs: RunQuerySet, *, with_judgments: bool = False
) -> tuple[IncompleteRun, ...]:
    """Return those of these runs that `Run.objects.inconclusive` names, newest first.

    One query, and a constant number more where there are any.
    """
    fields = ("label", "release", "model_name", "language_model_id", "suite__name", "launch_id")
    rows = runs.inconclusive(with_judgments=with_judgments).select_related("suite")
    rows = rows.only(*fields, "created_at", "started_at")
    found = list(rows.order_by("-created_at", "-pk"))
    if not found:
        return ()
    counts = groups_of(tallies_of_runs(found, of_judges=True), lambda tally: [tally.run_id])
    retryable = retryable_of(found)
    silent = _silent(found) if with_judgments else {}
    return tuple(
        IncompleteRun(run, counts[run.pk], retryable[run.pk], silent.get(run.pk, 0))
        for run in found
    )


def _silent(runs: Collection[Run]) -> dict[int, int]:
    """Count the missing judgments of the active judge runs, by run."""
    rows = ResultScore.objects.filter(
        PARTLY_JUDGED, judge_run__run__in=runs, judge_run__is_active=True
    )
    missing = Sum(F("expected") - F("answered"))
    return dict(rows.order_by().values_list("judge_run__run").annotate(n=missing))


def newer_than(
    runs: Iterable[Run], incomplete: Iterable[IncompleteRun]
) -> tuple[IncompleteRun, ...]:
    """Return the incomplete runs that none of these runs of the same model replaces."""
    newest: dict[int, datetime] = {}
    for run in runs:
        at = newest.get(run.language_model_id, run.created_at)
        newest[run.language_model_id] = max(at, run.created_at)
    return tuple(
        one
        for one in incomplete
        if one.run.language_model_id not in newest
        or one.run.created_at > newest[one.run.language_model_id]
    )


def incomplete_table(
    runs: Iterable[IncompleteRun], reader: User, *, is_left_out: bool = True
) -> Iterator[Table]:
    """Yield the table of these runs, each with the button that completes it; nothing without.

    Args:
        is_left_out: The figures above leave them out.
    """
    may_retry, runs = reader.has_perm(CONTROL), list(runs)
    said = ["Not counted above."] if is_left_out else []
    said += [NOTE] if any(not one.counts.is_enough for one in runs) else []
    said += [SILENT] if any(one.counts.is_enough for one in runs) else []
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
            note=" ".join(said),
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
    return Link(f"Retry {failed:,} failed", retry_url(run))


def retry_url(run: int) -> str:
    """Return the page that confirms "Retry failed"."""
    return f"{reverse('admin:runs_run_control', args=[run])}?act=retry_errors"
