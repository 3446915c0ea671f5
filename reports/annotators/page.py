"""Annotators: their agreement with each other and with themselves."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from evalhub.display.formatting import between, counted, percent, score
from reports.annotators.annotator_tables import (
    annotator_work_table,
    group_agreement_table,
    pairs_table,
    self_agreement_table,
)
from reports.annotators.query import Annotators, annotators
from reports.annotators.rule import EvaluationScope
from reports.documents.document import Document, Estimate, Fact, Table
from reports.documents.reading import Page, Reading
from reports.judge_reliability.evaluated_runs_form import EvaluatedRunsForm
from reports.queries.human_agreement import evaluated_runs


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Report the agreement of annotators in pairs, by suite and tag, and each with themselves."""
    found = annotators(evaluated_runs(suite=filters["suite"], last=filters["last"]), reading)
    return Document(
        title="Agreement between annotators",
        sentences=tuple(_sentences(found)),
        facts=tuple(_facts(found)),
        tables=_tables(found) if found else COMPUTING,
        warnings=tuple(_warnings(found)),
    )


def _tables(found: Annotators) -> tuple[Table, ...]:
    return (
        *(pairs_table(found, scope) for scope in EvaluationScope),
        group_agreement_table(found),
        annotator_work_table(found),
        self_agreement_table(found),
    )


NO_LINES: dict[EvaluationScope, list[Any]] = {scope: [] for scope in EvaluationScope}
COMPUTING = tuple(
    replace(table, empty="Computing…")
    for table in _tables(Annotators({}, NO_LINES, NO_LINES, [], []))
)


def _sentences(found: Annotators | None) -> Iterator[str]:
    if found is None:
        return
    blind_line = found.all_together(EvaluationScope.BLIND)
    line = blind_line or found.all_together(EvaluationScope.ALL)
    if line is None:
        yield (
            "No answer has two annotators yet. Set a review queue to two reviewers per answer to "
            "measure how reliable human verdicts are."
        )
        return
    blind = "blind " if blind_line else ""
    yield (
        f"At least two of {line.annotators:,} annotators gave {blind}verdicts on "
        f"{counted(line.answers, 'answer')}: any two agree {percent(line.same.share)} of the time "
        f"({between(line.same.interval)}, {line.same.method})."
    )
    if line.alpha is not None:
        low, high = line.interval or (None, None)
        bounds = f" ({score(low)} to {score(high)})" if line.interval else ""
        yield f"Agreement beyond chance is alpha {score(line.alpha)}{bounds}: {line.band}."
    else:
        yield f"Alpha is not available: {line.band}."


def _facts(found: Annotators | None) -> Iterator[Fact]:
    if found is None:
        return
    yield Fact(
        "annotators", "Annotators", len(found.work), "count", "with evaluations in these runs"
    )
    for scope, title in (
        (EvaluationScope.BLIND, "Two blind verdicts"),
        (EvaluationScope.ALL, "Two verdicts"),
    ):
        line = found.all_together(scope)
        yield Fact(f"answers_{scope.value}", title, line.answers if line else 0, "count", "answers")
    line = found.all_together(EvaluationScope.BLIND)
    if line is not None:
        alpha = Estimate(line.alpha, line.answers, line.interval)
        yield Fact("alpha", "Alpha, blind", alpha, "estimate", str(line.band))


def _warnings(found: Annotators | None) -> Iterator[str]:
    if found is None:
        return
    if found.all_together(EvaluationScope.ALL) and not found.all_together(EvaluationScope.BLIND):
        yield (
            "No answer has two blind verdicts: annotators may have seen the verdicts of judges or "
            "of each other, and agree for that reason."
        )
    lopsided = sum(pair.is_lopsided for pair in found.pairs[EvaluationScope.ALL])
    if lopsided:
        yield (
            f"In {lopsided} of {len(found.pairs[EvaluationScope.ALL])} pairs one verdict is rarer "
            "than 10%: kappa is then low however often two annotators agree. Read the share as "
            "well."
        )


ANNOTATORS = Page(
    key="annotators",
    title="Annotators",
    question="Do people agree with each other?",
    summary="Agreement of annotators: Cohen's kappa of each pair, Krippendorff's alpha by suite "
    "and tag, blind verdicts apart, and the work of each annotator.",
    form=EvaluatedRunsForm,
    build=build,
)
