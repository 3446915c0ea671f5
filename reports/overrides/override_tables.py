"""The tables of reviewed results."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from evalhub.display.charts import OutcomeRow, tag_bars
from evalhub.display.formatting import counted
from evalhub.display.outcomes import OUTCOMES
from reports.documents.document import Cell, Column, LazyRows, Link, Linked, Table
from reports.documents.links import row_url
from reports.overrides.query import Override, Verdict
from reports.overrides.rule import OUTCOME_OF, Review, Reviews, step
from runs.figures.verdict_labels import extent_label, is_number, spelled_out

BY_ANNOTATORS = [OUTCOME_OF[key] for key in (True, False, None)]
"""The outcomes that judges and annotators can come to."""


def steps_table(reviews: Reviews, url: Callable[[str], str]) -> Table:
    """Count the reviews from what to what; each count leads to its results."""

    def row(judges: str) -> tuple[Cell, ...]:
        steps = [step(judges, humans) for humans in BY_ANNOTATORS]
        counts = [Linked(reviews.steps[one], url(one)) for one in steps]
        return (OUTCOMES[judges].label, *counts)

    return Table(
        key="steps",
        title="From judges to annotators",
        columns=(
            Column("judges", "Judges"),
            *(
                Column(name, f"Annotators: {OUTCOMES[name].label.lower()}", "count")
                for name in BY_ANNOTATORS
            ),
        ),
        rows=[row(judges) for judges in BY_ANNOTATORS] if reviews else [],
        note="Of annotators unscored: they disagree, or rated only some criteria.",
        empty="No annotator has reviewed a result.",
        draw=lambda: _figure(reviews),
        describes="Outcomes by annotators, for each outcome by judges",
    )


def _figure(reviews: Reviews) -> dict[str, Any] | None:
    rows = []
    for judges in BY_ANNOTATORS:
        counts = {humans: reviews.steps[step(judges, humans)] for humans in BY_ANNOTATORS}
        if sum(counts.values()):
            rows.append(OutcomeRow(judges, f"Judges: {OUTCOMES[judges].label.lower()}", counts))
    return tag_bars(rows) if rows else None


def annotators_table(reviewers: Iterable[tuple[str, int, int]], url: Callable[[str], str]) -> Table:
    """List how many results each annotator reviewed and overturned, the busiest first."""
    return Table(
        key="annotators",
        title="Annotators",
        columns=(
            Column("annotator", "Annotator", "link"),
            Column("reviewed", "Reviewed", "count"),
            Column("overturned", "Overturned", "count"),
        ),
        rows=[
            (Link(who, url(who)), n, overturned)
            for who, n, overturned in sorted(reviewers, key=lambda one: (-one[1], one[0]))
        ],
        note="A result reviewed by several annotators counts for each.",
        empty="No annotator reviewed a result.",
    )


def results_table(
    title: str,
    reviews: Sequence[Review],
    load: Callable[[Sequence[Review]], Sequence[Override]],
    *,
    names_run: bool = True,
    note: str = "",
    empty: str = "",
) -> Table:
    """List reviewed results, loaded as they are shown."""
    run = (Column("run", "Run", "link"),) if names_run else ()
    return Table(
        key="overrides",
        title=title,
        columns=(
            Column("issue", "Result", "link"),
            Column("result_id", "ID"),
            *run,
            Column("judges", "Judges", "outcome"),
            Column("annotators", "Annotators", "outcome"),
            Column("judges_score", "Judges’ score", "score"),
            Column("score", "Score", "score"),
            Column("verdicts", "By", "link"),
            Column("why", "Reason"),
            Column("when", "Date", "date"),
        ),
        rows=LazyRows(reviews, lambda some: [_row(one, names_run) for one in load(some)]),
        note=note,
        empty=empty,
    )


def _row(one: Override, names_run: bool) -> tuple[Cell, ...]:
    run = Link(one.model_name, row_url("reports:run", one.review.run), one.run_label)
    return (
        Link(one.issue, row_url("admin:runs_result_change", one.review.result)),
        one.review.result,
        *((run,) if names_run else ()),
        OUTCOME_OF[one.review.judges],
        "disputed" if one.is_disputed else OUTCOME_OF[one.review.humans],
        one.judges_score,
        one.score,
        tuple(Link(verdict.who, "", ", ".join(_details(verdict))) for verdict in one.verdicts),
        tuple(dict.fromkeys(verdict.why for verdict in one.verdicts if verdict.why)) or None,
        one.when,
    )


def _details(verdict: Verdict) -> list[str]:
    """Return how an annotator decided: the named option, of which criterion, and as what."""
    is_whole = verdict.criterion is None
    option = spelled_out(verdict.option) if is_whole else extent_label(verdict.option)
    parts = [option] if option and not is_number(option) else []
    if not is_whole:
        parts.append(f"criterion {verdict.criterion}")
    if verdict.kind != "evaluation":
        parts.append(verdict.kind)
    return parts


def listed_note(shown: int, total: int) -> str:
    return f"Newest first: {shown:,} of {counted(total, 'reviewed result')}."
