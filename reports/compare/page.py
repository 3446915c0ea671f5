"""The page of a comparison: which runs it is about, and what they come to."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reports.compare import families, many_runs, two_runs
from reports.compare.controls import controls
from reports.compare.form import MOST, CompareForm
from reports.compare.query import comparison_of, sides_of
from reports.documents.document import Document
from reports.documents.reading import Page, Reading
from runs.baselines import latest_pair, opponent_of
from runs.models import Run


def build(asked: Mapping[str, Any], reading: Reading) -> Document:
    """Two runs compared, several or their families side by side, or what to choose first."""
    runs = runs_of(asked["runs"] or ())
    sides = sides_of(runs)
    if len(sides) < 2:
        document = _too_few(runs)
    elif asked["family"]:
        document = families.document_of(sides, asked, reading)
    elif len(sides) == 2:
        document = two_runs.document_of(comparison_of(*sides), asked, reading)
    else:
        document = many_runs.document_of(sides, asked, reading)
    warnings = (*_left_out(len(asked["runs"] or ())), *document.warnings)
    return replace(document, warnings=warnings, more=document.more | controls(sides, asked))


def runs_of(chosen: Sequence[Run]) -> list[Run]:
    """The runs that are meant: those chosen; for one, what it is compared with comes first."""
    if not chosen:
        return list(latest_pair() or ())
    if len(chosen) == 1:
        against = opponent_of(chosen[0])
        return [*([against] if against else []), chosen[0]]
    return list(chosen[:MOST])


def _left_out(n: int) -> tuple[str, ...]:
    if n <= MOST:
        return ()
    return (f"{n} runs are chosen; the first {MOST} are shown: more do not fit side by side.",)


def _too_few(runs: Sequence[Run]) -> Document:
    if runs:
        said = f"There is no earlier run of the suite of {runs[0].label}: choose what to compare."
    else:
        said = "No run has another one of its suite before it yet: choose two runs, or launch one."
    return Document("What got better, and what worse?", (said,))


COMPARE = Page(
    key="compare",
    title="Compare",
    summary="What got better and what got worse from one run to another, test by test, and "
    "whether it is certain; or several runs side by side.",
    form=CompareForm,
    build=build,
    icon="compare_arrows",
    template="reports/compare/page.html",
)
