"""Capabilities: models ranked in broad buckets, and the champions of each dimension."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms

from evalhub.display.formatting import counted
from evalhub.statistics.changes.net_change import LEVEL
from reports.capabilities.capability_tables import (
    CapabilityRanks,
    champions_table,
    components_table,
    evidence_of,
    excluded_table,
    model_name,
    overview_table,
    parts_tables,
    ranking_table,
    weights_table,
)
from reports.capabilities.champions_rule import MIN_SUITES, champions
from reports.capabilities.leader_rule import AgainstFirst, Lists
from reports.capabilities.query import CapabilityReport, Weighed, capability_report
from reports.capabilities.rule import DIMENSION, Capability, capability
from reports.documents.document import Document, Fact, Table
from reports.documents.reading import Page, Reading, ReportForm
from reports.leaderboard.jury_tables import apart_table, judged_by
from reports.leaderboard.page import outside_fact
from reports.leaderboard.query import all_labels, labels_by_model
from reports.leaderboard.rule import Excluded
from reports.models import Capability as Row
from reports.queries.incomplete_runs import incomplete_table

WARNING = (
    "A first screening, not a ranking to decide by: the weights are choices, and analyst grades "
    "are averaged with scores as if they shared a scale."
)


class CapabilitiesForm(ReportForm):
    """The capability to show, and the model whose components are listed."""

    capability = forms.ChoiceField(
        choices=lambda: [("", "All"), *Row.objects.values_list("name", "name")]
    )
    model = forms.CharField(widget=forms.HiddenInput)


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Rank models by capability, with the components of each score and the excluded models."""
    report = capability_report()
    chosen = filters["capability"]
    shown = [one for one in report.capabilities if chosen in ("", one.row.name)]
    rankings: CapabilityRanks = []
    for weighed in shown:
        found = [capability(weighed.bucket, record) for record in report.records]
        ranked = [one for one in found if isinstance(one, Capability)]
        ranked.sort(key=lambda one: (-round(one.score, 9), one.model))
        rankings.append((weighed, ranked, [one for one in found if isinstance(one, Excluded)]))
    evidence = evidence_of(rankings, report, reading)
    graded_suites = {suite for _, suite in report.graded}
    least = max(1, min(MIN_SUITES, len(graded_suites)))
    dimensions = champions(report.means, least=least)
    return Document(
        title=f"Models ranked by {chosen or 'capability'}",
        sentences=(
            *_sentences(rankings, evidence, report),
            *judged_by(report.field, {one.suite for one in report.field.latest}),
        ),
        facts=_facts(report, rankings),
        tables=(
            overview_table(rankings, report),
            *parts_tables(filters, rankings, report),
            *_with_rows(
                ranking_table(rankings, evidence, report),
                champions_table(dimensions, report, least),
                excluded_table(rankings, dimensions, report),
                apart_table(report.field, reading.reader),
            ),
            weights_table(shown) if chosen else components_table(shown),
            *incomplete_table([one.found for one in report.field.incomplete], reading.reader),
        ),
        warnings=(WARNING, *_missing(shown)),
        labels=_labels(report, rankings),
    )


def _with_rows(*tables: Table) -> list[Table]:
    """Leave out what is empty: the overview says what is lacking."""
    return [table for table in tables if table.rows]


def _labels(report: CapabilityReport, rankings: CapabilityRanks) -> tuple[str, ...]:
    shown = {one.model for _, ranked, _ in rankings for one in ranked}
    runs = {
        model: [run for one in report.field.latest if one.model == model for run in one.runs]
        for model in shown
    }
    return all_labels(labels_by_model(runs))


def _sentences(
    rankings: CapabilityRanks, evidence: Lists, report: CapabilityReport
) -> Iterable[str]:
    for (weighed, ranked, _), tested in zip(rankings, evidence, strict=True):
        if ranked:
            best = ranked[0]
            name = model_name(report, best.model)
            if all(part.kind == DIMENSION for part in best.parts):
                yield (
                    f"{weighed.row.name}: no suite tests it; by an analyst’s grades alone {name} "
                    f"has {best.score:.2f}."
                )
                continue
            n = counted(len(best.parts), "component")
            ahead = _ahead(tested, len(ranked))
            yield f"{weighed.row.name}: {name} with {best.score:.2f} ({n}), {ahead}."


def _ahead(evidence: Sequence[AgainstFirst], n: int) -> str:
    """Say whether the first of so many models is ahead of all others on their tests."""
    if n == 1:
        return "the only ranked model"
    highest = f"the highest score of {n} ranked"
    if not evidence:
        return highest
    if any(one.p is None for one in evidence):
        return f"{highest}; cannot tell whether it is first: it shares no test with another"
    if max(one.p or 0 for one in evidence) > LEVEL:
        return f"{highest}; cannot tell whether it is first on the tests that both have"
    return f"{highest}, and first on the tests that it has in common with each"


def _missing(shown: Iterable[Weighed]) -> Iterable[str]:
    for weighed in shown:
        if weighed.missing:
            yield (
                f"{weighed.row.name} lists suites that do not exist: "
                f"{', '.join(weighed.missing)}. A model needs half of the listed suites: add them "
                "or remove them from its weights."
            )


def _facts(report: CapabilityReport, rankings: CapabilityRanks) -> tuple[Fact, ...]:
    ranked = {one.model for _, found, _ in rankings for one in found}
    return (
        Fact("models", "Models ranked", len(ranked), "count", f"of {len(report.records)}"),
        Fact("graded", "Graded", len(report.graded), "count", "pairs of model and suite"),
        outside_fact(report.field),
    )


CAPABILITIES = Page(
    key="capabilities",
    title="Capabilities",
    question="Which model is best at what?",
    summary="Models by broad capabilities, with the components of each score, and the champions of "
    "each dimension.",
    form=CapabilitiesForm,
    build=build,
)
