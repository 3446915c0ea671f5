"""Tables of capabilities: rankings, components of scores, and weights."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.urls import reverse

from reports.capabilities.champions_rule import LEAST_SUITES, Dimension
from reports.capabilities.query import CapabilityReport, Weighed
from reports.capabilities.rule import DIMENSION, SUITE, Capability
from reports.documents.document import Cell, Column, Estimate, Link, Linked, Table
from reports.documents.links import page_url
from reports.documents.topic_names import topic_key, topic_title
from reports.leaderboard.rule import Excluded
from reports.models import CapabilityWeight, WeightKind
from reports.summaries.dimensions import DIMENSIONS

TITLES = {dimension.key: dimension.title for dimension in DIMENSIONS}

CapabilityRanks = list[tuple[Weighed, list[Capability], list[Excluded]]]
"""Each capability with its ranked models, best first, and the excluded ones."""


def model_name(report: CapabilityReport, key: str) -> str:
    """Return the model's name, or its key if only grades are left."""
    identity = report.field.identities.get(key)
    return identity.name if identity else key


def overview_table(rankings: CapabilityRanks, report: CapabilityReport) -> Table:
    """List the ranked models with a column for each capability."""
    scores = {
        (one.model, weighed.row.pk): one.score for weighed, ranked, _ in rankings for one in ranked
    }
    models = sorted({model for model, _ in scores}, key=lambda model: model_name(report, model))
    return Table(
        key="overview",
        title="Overview",
        columns=(
            Column("model", "Model"),
            *(
                Column(
                    topic_key(weighed.row.name), weighed.row.name, "score", weighed.row.description
                )
                for weighed, _, _ in rankings
            ),
        ),
        rows=[
            (
                model_name(report, model),
                *(
                    _score_of(scores.get((model, weighed.row.pk)), weighed, model)
                    for weighed, _, _ in rankings
                ),
            )
            for model in models
        ],
        note="Scores from 0 to 1; a dash: not ranked, see below. Select a score for its parts.",
        empty="No model is ranked yet: it needs 10 runs of 5 suites, and half of the suites that a "
        "capability lists. Not ranked, below, lists what is missing.",
        look="heat",
    )


def _score_of(score: float | None, weighed: Weighed, model: str) -> Cell:
    url = page_url("capabilities", capability=weighed.row.name, model=model)
    return None if score is None else Linked(score, f"{url}#parts")


RANKED_COLUMNS = (
    Column("capability", "Capability"),
    Column("place", "Rank", "count"),
    Column("model", "Model", "link", "Opens its components"),
    Column("score", "Score", "estimate", "n counts its components"),
    Column("dimensions", "Dimensions", "count"),
    Column("topics", "Suites by topic", "count"),
    Column("suites", "Suites by name", "count"),
)


def ranking_table(rankings: CapabilityRanks, report: CapabilityReport) -> Table:
    return Table(
        key="ranking",
        title="Ranking",
        columns=RANKED_COLUMNS,
        rows=[
            _ranked_row(weighed, place, one, report)
            for weighed, ranked, _ in rankings
            for place, one in enumerate(ranked, 1)
        ],
        note="Weighted mean of its components: grades as (g − 1) / 9, and the latest score of each "
        "suite, by name or else by its heaviest topic.",
        empty="No model is ranked yet.",
    )


def _ranked_row(
    weighed: Weighed, place: int, one: Capability, report: CapabilityReport
) -> tuple[Cell, ...]:
    kinds = [part.kind for part in one.parts]
    url = page_url("capabilities", capability=weighed.row.name, model=one.model)
    return (
        weighed.row.name,
        place,
        Link(model_name(report, one.model), f"{url}#parts"),
        Estimate(one.score, len(one.parts)),
        kinds.count(DIMENSION),
        len(kinds) - kinds.count(DIMENSION) - kinds.count(SUITE),
        kinds.count(SUITE),
    )


PART_COLUMNS = (
    Column("capability", "Capability"),
    Column("kind", "Kind"),
    Column("name", "Name"),
    Column("suite", "Suite"),
    Column("weight", "Weight", "number"),
    Column("score", "Score", "score"),
)


def parts_tables(
    asked: Mapping[str, Any], rankings: CapabilityRanks, report: CapabilityReport
) -> Iterable[Table]:
    """Return the components of the opened model's scores."""
    if not asked["model"]:
        return []
    rows = [
        (weighed.row.name, part.kind, _title(part.kind, part.name), part.suite or None, *figures)
        for weighed, ranked, _ in rankings
        for one in ranked
        if one.model == asked["model"]
        for part in one.parts
        for figures in [(part.weight, part.score)]
    ]
    return [
        Table(
            key="parts",
            title=f"Components for {model_name(report, asked['model'])}",
            columns=PART_COLUMNS,
            rows=rows,
            empty="This model is not ranked in the capabilities shown.",
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
    Column("second", "Runner-up"),
    Column("second_grade", "Runner-up's mean grade", "number"),
    Column("eligible", "Eligible models", "count", "With enough suites"),
)


def champions_table(dimensions: Iterable[Dimension], report: CapabilityReport) -> Table:
    return Table(
        key="champions",
        title="Dimension champions",
        columns=CHAMPION_COLUMNS,
        rows=[_champion(dimension, report) for dimension in dimensions],
        note=f"Highest mean of an analyst's grades over at least {LEAST_SUITES} suites, from the "
        "latest executive summary of each. Grades are an opinion.",
        empty="No model is graded yet. Request an executive summary of its runs.",
    )


def _champion(dimension: Dimension, report: CapabilityReport) -> tuple[Cell, ...]:
    best = dimension.champions
    rest = dimension.ranked[len(best) :]
    return (
        TITLES.get(dimension.key, dimension.key),
        tuple(model_name(report, one.model) for one in best) or None,
        best[0].grade if best else None,
        min(one.suites for one in best) if best else None,
        model_name(report, rest[0].model) if rest else None,
        rest[0].grade if rest else None,
        len(dimension.ranked),
    )


def excluded_table(
    rankings: CapabilityRanks, dimensions: Iterable[Dimension], report: CapabilityReport
) -> Table:
    left_out = [(weighed.row.name, found) for weighed, _, found in rankings]
    left_out += [(TITLES.get(one.key, one.key), list(one.excluded)) for one in dimensions]
    return Table(
        key="excluded",
        title="Not ranked",
        columns=(
            Column("models", "Models"),
            Column("reason", "Reason"),
            Column("places", "Capabilities and dimensions"),
        ),
        rows=[
            (", ".join(models), reason, ", ".join(places))
            for (reason, models), places in _grouped(left_out, report).items()
        ],
        empty="Every model is ranked.",
    )


def _grouped(
    left_out: Iterable[tuple[str, list[Excluded]]], report: CapabilityReport
) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """Group exclusions by their reason and models."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for place, excluded in left_out:
        for reason in dict.fromkeys(one.reason for one in excluded):
            models = sorted(
                model_name(report, one.model) for one in excluded if one.reason == reason
            )
            found.setdefault((reason, tuple(models)), []).append(place)
    return found


WEIGHT_COLUMNS = (
    Column("capability", "Capability", "link"),
    Column("kind", "Kind"),
    Column("name", "Name"),
    Column("weight", "Weight", "number"),
    Column("owner", "Owner", "text", "The methodology, or this workspace"),
)


def weights_table(shown: Iterable[Weighed]) -> Table:
    return Table(
        key="weights",
        title="Weights",
        columns=WEIGHT_COLUMNS,
        rows=[_weight(weighed, weight) for weighed in shown for weight in weighed.weights],
        note="Select the capability to change its weights.",
        empty="No weights yet.",
    )


def _weight(weighed: Weighed, weight: CapabilityWeight) -> tuple[Cell, ...]:
    return (
        _edited(weighed),
        weight.get_kind_display(),
        _called(weight),
        weight.weight,
        weight.get_origin_display(),
    )


def _edited(weighed: Weighed) -> Link:
    url = reverse("admin:reports_capability_change", args=[weighed.row.pk])
    return Link(weighed.row.name, url)


def _called(weight: CapabilityWeight) -> str:
    is_dimension = weight.kind == WeightKind.DIMENSION
    return TITLES.get(weight.name, weight.name) if is_dimension else weight.name


COMPONENT_COLUMNS = (
    Column("capability", "Capability", "link", "Opens its weights"),
    Column("owner", "Owner", "text", "The methodology, or this workspace"),
    *(Column(kind.value, f"{kind.label}s") for kind in WeightKind),
    Column("change", "Change", "link"),
)


def components_table(shown: Iterable[Weighed]) -> Table:
    return Table(
        key="components",
        title="Components and weights",
        columns=COMPONENT_COLUMNS,
        rows=[_counts(weighed) for weighed in shown],
        note="The methodology defines the capabilities and the weights of one; all other weights "
        "are this workspace's.",
        empty="There are no capabilities. Add one with its weights under Capability weights.",
    )


def _counts(weighed: Weighed) -> tuple[Cell, ...]:
    owners = sorted({weight.get_origin_display() for weight in weighed.weights})
    return (
        Link(weighed.row.name, page_url("capabilities", capability=weighed.row.name) + "#weights"),
        " and ".join(owners) or None,
        *(
            ", ".join(
                f"{_called(weight)} {weight.weight:g}"
                for weight in weighed.weights
                if weight.kind == kind
            )
            or None
            for kind in WeightKind
        ),
        replace(_edited(weighed), text="Weights"),
    )
