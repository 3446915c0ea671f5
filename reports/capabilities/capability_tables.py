"""Tables of capabilities: who stands where, what that is made of, and what counts how much."""

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
"""Each capability with those that stand in it, best first, and those that do not."""


def model_name(report: CapabilityReport, key: str) -> str:
    """The model's name; a key of which only grades are left stands for itself."""
    identity = report.field.identities.get(key)
    return identity.name if identity else key


def overview_table(standings: CapabilityRanks, report: CapabilityReport) -> Table:
    """A line for each model that stands somewhere, a column for each capability."""
    scores = {
        (one.model, weighed.row.pk): one.score for weighed, ranked, _ in standings for one in ranked
    }
    models = sorted({model for model, _ in scores}, key=lambda model: model_name(report, model))
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
                model_name(report, model),
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


def ranking_table(standings: CapabilityRanks, report: CapabilityReport) -> Table:
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
        Link(model_name(report, one.model), f"{url}#parts"),
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


def parts_tables(
    asked: Mapping[str, Any], standings: CapabilityRanks, report: CapabilityReport
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
            title=f"What counts for {model_name(report, asked['model'])}",
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


def champions_table(dimensions: Iterable[Dimension], report: CapabilityReport) -> Table:
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
        tuple(model_name(report, one.model) for one in best) or None,
        best[0].grade if best else None,
        min(one.suites for one in best) if best else None,
        model_name(report, rest[0].model) if rest else None,
        rest[0].grade if rest else None,
        len(dimension.ranked),
    )


def excluded_table(
    standings: CapabilityRanks, dimensions: Iterable[Dimension], report: CapabilityReport
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
            models = sorted(
                model_name(report, one.model) for one in excluded if one.reason == reason
            )
            found.setdefault((reason, tuple(models)), []).append(place)
    return found


WEIGHT_COLUMNS = (
    Column("capability", "Capability", "link"),
    Column("kind", "Counts"),
    Column("name", "Name"),
    Column("weight", "Weight", "number"),
    Column("whose", "Whose", "text", "Given by the methodology, or ours"),
)


def weights_table(shown: Iterable[Weighed]) -> Table:
    return Table(
        key="weights",
        title="Weights",
        columns=WEIGHT_COLUMNS,
        rows=[_weight(weighed, weight) for weighed in shown for weight in weighed.weights],
        note="Press the capability to change its weights.",
        empty="Nothing counts in it yet.",
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


MADE_OF_COLUMNS = (
    Column("capability", "Capability", "link", "Open its weights"),
    Column("whose", "Weights are", "text", "Given by the methodology, or ours"),
    *(Column(kind.value, f"{kind.label}s") for kind in WeightKind),
    Column("change", "Change", "link"),
)


def made_of_table(shown: Iterable[Weighed]) -> Table:
    return Table(
        key="made_of",
        title="What counts, and how much",
        columns=MADE_OF_COLUMNS,
        rows=[_counts(weighed) for weighed in shown],
        note="The methodology names the capabilities and gives weights for one of them; all other "
        "weights are ours.",
        empty="There are no capabilities. Add one in the admin, with what counts in it.",
    )


def _counts(weighed: Weighed) -> tuple[Cell, ...]:
    whose = sorted({weight.get_origin_display() for weight in weighed.weights})
    return (
        Link(weighed.row.name, page_url("capabilities", capability=weighed.row.name) + "#weights"),
        " and ".join(whose) or None,
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
