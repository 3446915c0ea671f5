"""Capabilities: broad buckets of what models are good at, and the champions of each dimension."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from reports.capabilities.capability_tables import (
    CapabilityRanks,
    champions_table,
    excluded_table,
    made_of_table,
    model_name,
    overview_table,
    parts_tables,
    ranking_table,
    weights_table,
)
from reports.capabilities.champions_rule import champions
from reports.capabilities.query import CapabilityReport, Weighed, capability_report
from reports.capabilities.rule import Capability, capability
from reports.documents.document import Document, Fact
from reports.documents.reading import Page, Reading, ReportForm
from reports.leaderboard.query import labels_by_model
from reports.leaderboard.rule import Excluded
from reports.models import Capability as Row

WARNINGS = (
    "A first screen and no ranking to decide by: the weights are choices and not findings, and an "
    "analyst's grades are averaged with scores as if they were on one scale.",
)


def _names() -> list[tuple[str, str]]:
    rows = Row.objects.values_list("name", flat=True)
    return [("", "All"), *((name, name) for name in rows)]


class CapabilitiesForm(ReportForm):
    """Which capability, and of which model all that counts is shown."""

    capability = forms.ChoiceField(choices=_names)
    model = forms.CharField(widget=forms.HiddenInput)


def build(asked: Mapping[str, Any], reading: Reading) -> Document:
    """Who stands where, what that is made of, who is left out and why."""
    report = capability_report()
    chosen = asked["capability"]
    shown = [one for one in report.capabilities if chosen in ("", one.row.name)]
    standings = [_standing(weighed, report) for weighed in shown]
    dimensions = champions(report.graded)
    return Document(
        question=f"Which models are best at {chosen}?"
        if chosen
        else "Which model is best at what?",
        sentences=tuple(_sentences(standings, report)),
        facts=_facts(report, standings),
        tables=(
            overview_table(standings, report),
            *parts_tables(asked, standings, report),
            ranking_table(standings, report),
            champions_table(dimensions, report),
            excluded_table(standings, dimensions, report),
            weights_table(shown) if chosen else made_of_table(shown),
        ),
        warnings=(*WARNINGS, *_missing(shown)),
        labels=_labels(report, standings),
    )


def _standing(
    weighed: Weighed, report: CapabilityReport
) -> tuple[Weighed, list[Capability], list[Excluded]]:
    found = [capability(weighed.bucket, record) for record in report.records]
    ranked = [one for one in found if isinstance(one, Capability)]
    ranked.sort(key=lambda one: (-round(one.score, 9), one.model))
    return weighed, ranked, [one for one in found if isinstance(one, Excluded)]


def _labels(report: CapabilityReport, standings: CapabilityRanks) -> tuple[str, ...]:
    shown = {one.model for _, ranked, _ in standings for one in ranked}
    runs = {
        model: [run for one in report.field.latest if one.model == model for run in one.runs]
        for model in shown
    }
    return tuple(sorted({label for found in labels_by_model(runs).values() for label in found}))


# In words ----------------------------------------------------------------------------------------


def _sentences(standings: CapabilityRanks, report: CapabilityReport) -> Iterable[str]:
    for weighed, ranked, _ in standings:
        if ranked:
            best = ranked[0]
            yield (
                f"{weighed.row.name}: {model_name(report, best.model)} with {best.score:.2f}, "
                f"of {len(ranked)} with enough to go by."
            )


def _missing(shown: Iterable[Weighed]) -> Iterable[str]:
    for weighed in shown:
        if weighed.missing:
            yield (
                f"{weighed.row.name} lists suites that are not in this ledger: "
                f"{', '.join(weighed.missing)}. A model needs half of the listed suites: add them, "
                "or take them out of its weights."
            )


def _facts(report: CapabilityReport, standings: CapabilityRanks) -> tuple[Fact, ...]:
    ranked = {one.model for _, found, _ in standings for one in found}
    summaries = {(grade.model, grade.suite) for grade in report.graded}
    return (
        Fact("models", "Models ranked", len(ranked), "count", f"of {len(report.records)}"),
        Fact("graded", "Graded", len(summaries), "count", "pairs of model and suite"),
        Fact("outside", "Runs left out", report.field.outside, "count", "no suite, or “test”"),
    )


CAPABILITIES = Page(
    key="capabilities",
    title="Capabilities",
    summary="Models by broad capabilities, what each score is made of, and dimension champions.",
    form=CapabilitiesForm,
    build=build,
    icon="psychology",
)
