"""Capabilities: broad buckets of what models are good at, and the champions of each dimension."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.urls import reverse

from reports.capabilities import DIMENSION, SUITE, Capability, capability
from reports.champions import LEAST_SUITES, Dimension, champions
from reports.document import Cell, Column, Document, Estimate, Fact, Link, Linked, Table
from reports.leaderboards import Excluded
from reports.links import page_url
from reports.models import Capability as Row
from reports.models import CapabilityWeight, WeightKind
from reports.pages.shell import Page, Reading, ReportForm
from reports.queries.capabilities import CapabilityReport, Weighed, capability_report
from reports.queries.leaderboard import labels_by_model
from reports.summaries.dimensions import DIMENSIONS
from reports.topic_names import topic_key, topic_title

WARNINGS = (
    "A first screen and no ranking to decide by: the weights are choices and not findings, and an "
    "analyst's grades are averaged with scores as if they were on one scale.",
)

TITLES = {dimension.key: dimension.title for dimension in DIMENSIONS}


def _names() -> list[tuple[str, str]]:
    rows = Row.objects.values_list("name", flat=True)
    return [("", "All"), *((name, name) for name in rows)]


class CapabilitiesForm(ReportForm):
    """Which capability, and of which model all that counts is shown."""

    capability = forms.ChoiceField(choices=_names)
    model = forms.CharField(widget=forms.HiddenInput)


Standings = list[tuple[Weighed, list[Capability], list[Excluded]]]
"""Each capability with those that stand in it, best first, and those that do not."""


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
            _overview(standings, report),
            *_parts(asked, standings, report),
            _ranked(standings, report),
            _champions(dimensions, report),
            _excluded(standings, dimensions, report),
            _weights(shown),
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


def _labels(report: CapabilityReport, standings: Standings) -> tuple[str, ...]:
    shown = {one.model for _, ranked, _ in standings for one in ranked}
    runs = {
        model: [run for one in report.field.latest if one.model == model for run in one.runs]
        for model in shown
    }
    return tuple(sorted({label for found in labels_by_model(runs).values() for label in found}))


# In words ----------------------------------------------------------------------------------------


def _sentences(standings: Standings, report: CapabilityReport) -> Iterable[str]:
    for weighed, ranked, _ in standings:
        if ranked:
            best = ranked[0]
            yield (
                f"{weighed.row.name}: {_model(report, best.model)} with {best.score:.2f}, "
                f"of {len(ranked)} with enough to go by."
            )


def _missing(shown: Iterable[Weighed]) -> Iterable[str]:
    for weighed in shown:
        if weighed.missing:
            yield (
                f"{weighed.row.name} lists suites that are not in this ledger, so they are not "
                f"asked for: {', '.join(weighed.missing)}."
            )


def _facts(report: CapabilityReport, standings: Standings) -> tuple[Fact, ...]:
    ranked = {one.model for _, found, _ in standings for one in found}
    summaries = {(grade.model, grade.suite) for grade in report.graded}
    return (
        Fact("models", "Models ranked", len(ranked), "count", f"of {len(report.records)}"),
        Fact("graded", "Graded", len(summaries), "count", "pairs of model and suite"),
        Fact("outside", "Runs left out", report.field.outside, "count", "no suite, or “test”"),
    )


def _model(report: CapabilityReport, key: str) -> str:
    """The model's name; a key of which only grades are left stands for itself."""
    identity = report.field.identities.get(key)
    return identity.name if identity else key


# Tables ------------------------------------------------------------------------------------------


def _overview(standings: Standings, report: CapabilityReport) -> Table:
    """A line for each model that stands somewhere, a column for each capability."""
    scores = {
        (one.model, weighed.row.pk): one.score for weighed, ranked, _ in standings for one in ranked
    }
    models = sorted({model for model, _ in scores}, key=lambda model: _model(report, model))
    return Table(
        key="overview",
        title="At a glance",
        columns=(
            Column("model", "Model"),
            *(
                Column(
                    topic_key(weighed.row.name), weighed.row.name, "score", weighed.row.description
                )
                for weighed, _, _ in standings
            ),
        ),
        rows=[
            (
                _model(report, model),
                *(
                    _score_of(scores.get((model, weighed.row.pk)), weighed, model)
                    for weighed, _, _ in standings
                ),
            )
            for model in models
        ],
        note="Scores from 0 to 1; a dash: not enough to go by, see below. Press one for its parts.",
        empty="No model has enough to go by yet: 10 runs of 5 suites, and half of the suites that "
        "a capability lists. What each lacks stands below.",
        look="heat",
    )


def _score_of(score: float | None, weighed: Weighed, model: str) -> Cell:
    url = page_url("capabilities", capability=weighed.row.name, model=model)
    return None if score is None else Linked(score, f"{url}#parts")


RANKED_COLUMNS = (
    Column("capability", "Capability"),
    Column("place", "Place", "count"),
    Column("model", "Model", "link", "Open what counts"),
    Column("score", "Score", "estimate", "n counts the things that it is made of"),
    Column("dimensions", "Dimensions", "count"),
    Column("topics", "Suites by topic", "count"),
    Column("suites", "Suites by name", "count"),
)


def _ranked(standings: Standings, report: CapabilityReport) -> Table:
    return Table(
        key="ranking",
        title="Ranking",
        columns=RANKED_COLUMNS,
        rows=[
            _ranked_row(weighed, place, one, report)
            for weighed, ranked, _ in standings
            for place, one in enumerate(ranked, 1)
        ],
        note="The sum of weight × score over the sum of weights: grades as (g − 1) / 9, and the "
        "latest score of each suite, by name or else by its heaviest topic.",
        empty="Nobody is ranked yet.",
    )


def _ranked_row(
    weighed: Weighed, place: int, one: Capability, report: CapabilityReport
) -> tuple[Cell, ...]:
    kinds = [part.kind for part in one.parts]
    url = page_url("capabilities", capability=weighed.row.name, model=one.model)
    return (
        weighed.row.name,
        place,
        Link(_model(report, one.model), f"{url}#parts"),
        Estimate(one.score, len(one.parts)),
        kinds.count(DIMENSION),
        len(kinds) - kinds.count(DIMENSION) - kinds.count(SUITE),
        kinds.count(SUITE),
    )


PART_COLUMNS = (
    Column("capability", "Capability"),
    Column("kind", "Counts as"),
    Column("name", "Name"),
    Column("suite", "Suite"),
    Column("weight", "Weight", "number"),
    Column("score", "Score", "score"),
)


def _parts(
    asked: Mapping[str, Any], standings: Standings, report: CapabilityReport
) -> Iterable[Table]:
    """All that counts for one model; nothing where none is opened."""
    if not asked["model"]:
        return []
    rows = [
        (weighed.row.name, part.kind, _title(part.kind, part.name), part.suite or None, *figures)
        for weighed, ranked, _ in standings
        for one in ranked
        if one.model == asked["model"]
        for part in one.parts
        for figures in [(part.weight, part.score)]
    ]
    return [
        Table(
            key="parts",
            title=f"What counts for {_model(report, asked['model'])}",
            columns=PART_COLUMNS,
            rows=rows,
            empty="This model does not stand in what is shown.",
        )
    ]


def _title(kind: str, name: str) -> str:
    if kind == DIMENSION:
        return TITLES.get(name, name)
    return name if kind == SUITE else topic_title(name)


CHAMPION_COLUMNS = (
    Column("dimension", "Dimension"),
    Column("champion", "Champion"),
    Column("grade", "Mean grade", "number", "From 1 to 10"),
    Column("suites", "Suites", "count"),
    Column("second", "Next"),
    Column("second_grade", "Its mean grade", "number"),
    Column("eligible", "With enough suites", "count"),
)


def _champions(dimensions: Iterable[Dimension], report: CapabilityReport) -> Table:
    return Table(
        key="champions",
        title="Champions of each dimension",
        columns=CHAMPION_COLUMNS,
        rows=[_champion(dimension, report) for dimension in dimensions],
        note=f"The highest mean of an analyst's grades over at least {LEAST_SUITES} suites, each "
        "by its latest executive summary. Grades are an opinion.",
        empty="Nothing was graded yet: ask for executive summaries of runs.",
    )


def _champion(dimension: Dimension, report: CapabilityReport) -> tuple[Cell, ...]:
    best = dimension.champions
    rest = dimension.ranked[len(best) :]
    return (
        TITLES.get(dimension.key, dimension.key),
        tuple(_model(report, one.model) for one in best) or None,
        best[0].grade if best else None,
        min(one.suites for one in best) if best else None,
        _model(report, rest[0].model) if rest else None,
        rest[0].grade if rest else None,
        len(dimension.ranked),
    )


def _excluded(
    standings: Standings, dimensions: Iterable[Dimension], report: CapabilityReport
) -> Table:
    left_out = [(weighed.row.name, found) for weighed, _, found in standings]
    left_out += [(TITLES.get(one.key, one.key), list(one.excluded)) for one in dimensions]
    return Table(
        key="excluded",
        title="Not ranked, and why",
        columns=(
            Column("models", "Models"),
            Column("reason", "Why"),
            Column("places", "Where"),
        ),
        rows=[
            (", ".join(models), reason, ", ".join(places))
            for (reason, models), places in _alike(left_out, report).items()
        ],
        empty="Nobody is left out.",
    )


def _alike(
    left_out: Iterable[tuple[str, list[Excluded]]], report: CapabilityReport
) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """Where models are left out, by the reason and by who they are."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for place, excluded in left_out:
        for reason in dict.fromkeys(one.reason for one in excluded):
            models = sorted(_model(report, one.model) for one in excluded if one.reason == reason)
            found.setdefault((reason, tuple(models)), []).append(place)
    return found


WEIGHT_COLUMNS = (
    Column("capability", "Capability", "link"),
    Column("kind", "Counts"),
    Column("name", "Name"),
    Column("weight", "Weight", "number"),
    Column("whose", "Whose", "text", "Given by the methodology, or ours"),
)


def _weights(shown: Iterable[Weighed]) -> Table:
    return Table(
        key="weights",
        title="Weights",
        columns=WEIGHT_COLUMNS,
        rows=[_weight(weighed, weight) for weighed in shown for weight in weighed.weights],
        note="Press a capability to change its weights. The methodology gives those of the first "
        "capability only; all others are ours.",
        empty="There are no capabilities. Add one in the admin, with what counts in it.",
    )


def _weight(weighed: Weighed, weight: CapabilityWeight) -> tuple[Cell, ...]:
    is_dimension = weight.kind == WeightKind.DIMENSION
    return (
        Link(weighed.row.name, reverse("admin:reports_capability_change", args=[weighed.row.pk])),
        weight.get_kind_display(),
        TITLES.get(weight.name, weight.name) if is_dimension else weight.name,
        weight.weight,
        weight.get_origin_display(),
    )


CAPABILITIES = Page(
    key="capabilities",
    title="Capabilities",
    summary="Models by broad capabilities, what each score is made of, and dimension champions.",
    form=CapabilitiesForm,
    build=build,
    icon="psychology",
)
