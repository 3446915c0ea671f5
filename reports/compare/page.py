"""The Compare page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalhub.models import LanguageModel
from reports.compare.controls import controls
from reports.compare.form import PAIRWISE, CompareForm
from reports.compare.pairwise import tab as pairwise
from reports.compare.query import comparison_of, sides_of
from reports.compare.side_by_side import document as side_by_side
from reports.compare.two_runs import document as two_runs
from reports.documents.document import Document
from reports.documents.reading import Page, Reading
from reports.limits import MAX_COMPARED_RUNS
from reports.queries.incomplete_runs import incomplete_runs, incomplete_table, retry_links
from runs.comparison.baselines import latest_pair, opponent_of, skipped_baselines
from runs.models import Run, Suite
from runs.scoring.shown_verdicts import record


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Build the report on two runs, on several side by side, or on their model families."""
    runs = runs_of(filters["runs"] or (), filters["suite"], filters["model"])
    sides = sides_of(runs)
    if len(sides) < 2:
        hint = (
            f"{runs[0].label} has no baseline and no earlier run of the same model and settings "
            "in its suite. Choose a run to compare it with."
            if runs
            else "No run has a baseline or an earlier run to compare with. Choose two runs."
        )
        document = Document("Changes between runs", (hint,))
    elif filters["tab"] == PAIRWISE:
        document = pairwise.document_of(sides, filters, reading)
    elif len(sides) == 2 and not filters["family"]:
        document = two_runs.document_of(comparison_of(*sides), filters, reading)
    else:
        document = side_by_side.document_of(sides, filters, reading)
    n, warnings = len(filters["runs"] or ()), document.warnings
    if n > MAX_COMPARED_RUNS:
        warnings = (f"Showing the first {MAX_COMPARED_RUNS} of {n} chosen runs.", *warnings)
    compared = [side.run.pk for side in sides] if len(sides) > 1 else []
    record(reading.reader, runs=compared)
    # Which of two answers is better does not depend on the runs' scores.
    scored = [] if filters["tab"] == PAIRWISE else compared
    incomplete = incomplete_runs(Run.objects.filter(pk__in=scored))
    skipped = skipped_baselines([run.pk for run in runs[-1:]]) if n < 2 else {}
    return replace(
        document,
        warnings=(*warnings, *skipped.values(), *(one.warning for one in incomplete)),
        tables=(*document.tables, *incomplete_table(incomplete, reading.reader, is_left_out=False)),
        actions=(*document.actions, *retry_links(incomplete, reading.reader)),
        runs=tuple(compared),
        more=document.more | controls(sides, filters),
    )


def runs_of(
    chosen: Sequence[Run], suite: Suite | None = None, model: LanguageModel | None = None
) -> list[Run]:
    """Return the chosen runs; for a single one, its opponent comes first.

    Without any, the newest run with an opponent, of this suite and model if given.
    """
    if not chosen:
        return list(latest_pair(suite, model=model) or ())
    if len(chosen) == 1:
        against = opponent_of(chosen[0])
        return [*([against] if against else []), chosen[0]]
    return list(chosen[:MAX_COMPARED_RUNS])


COMPARE = Page(
    key="compare",
    title="Compare",
    question="Did it get better, and for sure?",
    summary="Tests that got better or worse from one run to another, with significance; or "
    "several runs side by side. With `tab=pairwise`: win rates and a Bradley-Terry ranking of the "
    "runs from judgments on pairs of their answers.",
    form=CompareForm,
    build=build,
    template="reports/compare/page.html",
)
