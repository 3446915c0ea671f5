"""Tables of capabilities: rankings, components of scores, and weights."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from evalhub.display.formatting import counted
from evalhub.statistics.changes.net_change import LEVEL
from reports.capabilities.champions_rule import Dimension
from reports.capabilities.leader_rule import METHOD, AgainstFirst, Lists, by_grades, by_tests
from reports.capabilities.query import CapabilityReport, Weighed
from reports.capabilities.rule import DIMENSION, SUITE, TOPIC, Capability
from reports.documents.document import Cell, Column, Estimate, Link, Linked, Table, folded
from reports.documents.links import page_url, row_url
from reports.documents.reading import Reading
from reports.documents.topic_names import topic_key, topic_title
from reports.leaderboard.certainty_rule import inputs
from reports.leaderboard.rule import Excluded, RankedModel, SuiteScore
from reports.models import CapabilityWeight, WeightKind
from reports.summaries.analyst.dimensions import DIMENSIONS

TITLES = {dimension.key: dimension.title for dimension in DIMENSIONS}

CapabilityRanks = list[tuple[Weighed, list[Capability], list[Excluded]]]
"""Each capability with its ranked models, best first, and the excluded ones."""

EVIDENCE = (
    Column("shared", "Tests", "count", "Different ones, scored for this model and the first"),
    Column("p_holm", "p (Holm)", "p", "Against the first; a dash: it is the first"),
    Column("method", "Method"),
)


def evidence_of(rankings: CapabilityRanks, report: CapabilityReport, reading: Reading) -> Lists:
    """Compare the first model of each capability with the others on the tests of its suites.

    Grades are opinions, and no tests. Empty lists while it is computed.
    """
    lists = [[_of_suites(one, report) for one in ranked] for _, ranked, _ in rankings]
    runs = {run for models in lists for one in models for suite in one.suites for run in suite.runs}
    found = reading.computed(
        "capabilities-first",
        [inputs(models) for models in lists],
        Lists,
        lambda: by_tests(lists, report.field.test_scores(runs)),
        of=runs,
    )
    return found or [[] for _ in lists]


def _of_suites(found: Capability, report: CapabilityReport) -> RankedModel:
    """Return the runs behind the parts of a capability that are suites."""
    names = {part.suite or part.name for part in found.parts if part.kind != DIMENSION}
    suites = [
        SuiteScore(one.suite, one.version, 0.0, one.runs)
        for one in report.field.latest
        if one.model == found.model and report.suites[one.suite] in names
    ]
    return RankedModel(found.model, found.score, tuple(suites))


def model_name(report: CapabilityReport, key: str) -> str:
    """Return the model's name, or its key if only grades are left."""
    identity = report.field.identities.get(key)
    return identity.name if identity else key


def overview_table(rankings: CapabilityRanks, report: CapabilityReport) -> Table:
    """List the ranked models with a column for each capability."""
    scores = {
        (one.model, weighed.row.pk): Estimate(one.score, len(one.parts))
        for weighed, ranked, _ in rankings
        for one in ranked
    }
    models = sorted({model for model, _ in scores}, key=lambda model: model_name(report, model))
    rankings = [each for each in rankings if each[1]]
    return Table(
        key="overview",
        title="Overview",
        columns=(
            Column("model", "Model"),
            *(
                Column(
                    topic_key(weighed.row.name),
                    weighed.row.name,
                    "estimate",
                    weighed.row.description,
                )
                for weighed, _, _ in rankings
            ),
        ),
        rows=[
            (
                model_name(report, model),
                *(
                    Linked(scores[model, weighed.row.pk], _parts_url(weighed, model))
                    if (model, weighed.row.pk) in scores
                    else None
                    for weighed, _, _ in rankings
                ),
            )
            for model in models
        ],
        note="Scores from 0 to 1, n counts their parts; a dash: not ranked, see below. A "
        "capability without a ranked model has no column. Select a score for its parts.",
        empty="No model is ranked yet: it needs 10 runs of 5 suites, and half of the suites that a "
        "capability lists.",
        look="heat",
    )


def _parts_url(weighed: Weighed, model: str) -> str:
    return page_url("capabilities", capability=weighed.row.name, model=model) + "#components"


def ranking_table(rankings: CapabilityRanks, evidence: Lists, report: CapabilityReport) -> Table:
    return Table(
        key="ranking",
        title="Ranking",
        columns=(
            Column("capability", "Capability"),
            Column("place", "Rank", "count", "By score"),
            Column("model", "Model", "link", "Opens its components"),
            Column("score", "Score", "estimate", "n counts its components"),
            *EVIDENCE,
            Column("dimensions", "Dimensions", "count"),
            Column("topics", "Suites by topic", "count"),
            Column("suites", "Suites by name", "count"),
        ),
        rows=[
            _ranked_row(weighed, place, one, sure, report)
            for (weighed, ranked, _), tested in zip(rankings, evidence, strict=True)
            for place, (one, sure) in enumerate(zip_longest(ranked, [None, *tested]), 1)
            if one
        ],
        note="Weighted mean of its components: grades as (g − 1) / 9, and the latest score of each "
        "suite, by name or else by its heaviest topic. p is of all different tests of these suites "
        "that both models have scored, each once; grades are no tests.",
        empty="No model is ranked yet.",
    )


def _ranked_row(
    weighed: Weighed,
    place: int,
    one: Capability,
    sure: AgainstFirst | None,
    report: CapabilityReport,
) -> tuple[Cell, ...]:
    kinds = Counter(part.kind for part in one.parts)
    return (
        weighed.row.name,
        place,
        Link(model_name(report, one.model), _parts_url(weighed, one.model)),
        Estimate(one.score, len(one.parts)),
        *((sure.shared, sure.p, METHOD) if sure else (None,) * 3),
        kinds[DIMENSION],
        kinds[TOPIC],
        kinds[SUITE],
    )


def parts_tables(
    filters: Mapping[str, Any], rankings: CapabilityRanks, report: CapabilityReport
) -> Iterator[Table]:
    """Yield the components of the opened model's scores."""
    if not filters["model"]:
        return
    title_of: dict[str, Callable[[str], str]] = {
        DIMENSION: lambda name: TITLES.get(name, name),
        TOPIC: topic_title,
        SUITE: str,
    }
    yield Table(
        key="components",
        title=f"Components for {model_name(report, filters['model'])}",
        columns=(
            Column("capability", "Capability"),
            Column("kind", "Kind"),
            Column("name", "Name"),
            Column("suite", "Suite"),
            Column("weight", "Weight", "number"),
            Column("score", "Score", "score"),
        ),
        rows=[
            (
                weighed.row.name,
                part.kind,
                title_of[part.kind](part.name),
                part.suite or None,
                part.weight,
                part.score,
            )
            for weighed, ranked, _ in rankings
            for one in ranked
            if one.model == filters["model"]
            for part in one.parts
        ],
        empty="This model is not ranked in the capabilities shown.",
    )


def champions_table(dimensions: Sequence[Dimension], report: CapabilityReport, least: int) -> Table:
    """Return the champions of the dimensions in which a model is graded in `least` suites."""
    ranked = [one for one in dimensions if one.ranked]
    tested = by_grades([one.ranked for one in ranked])
    found = [(one, _of_second(one, of)) for one, of in zip(ranked, tested, strict=True)]
    found.sort(key=lambda pair: not _is_sure(pair[1]))
    shown = sum(_is_sure(second) for _, second in found)
    rows = [_champion(dimension, second, report) for dimension, second in found]
    return Table(
        key="champions",
        title="Dimension champions",
        columns=(
            Column("dimension", "Dimension"),
            Column("champion", "Highest mean"),
            Column("grade", "Mean grade", "number", "From 1 to 10"),
            Column("suites", "Suites", "count"),
            Column("second", "Runner-up"),
            Column("second_grade", "Runner-up's mean grade", "number"),
            Column("shared", "Shared", "count", "Suites in which both were graded"),
            Column("p_holm", "p (Holm)", "p", "Of the first against the runner-up"),
            Column("method", "Method"),
            Column("eligible", "Eligible models", "count", "With enough suites"),
        ),
        rows=rows,
        **folded(len(rows), shown, "dimension", said="without a sure first"),
        note=f"Highest mean of an analyst's grades over at least {counted(least, 'suite')}, from "
        "the latest executive summary of each. Grades are an opinion.",
        empty="No model is graded yet. Request an executive summary of its runs.",
    )


def _of_second(dimension: Dimension, evidence: Sequence[AgainstFirst]) -> AgainstFirst | None:
    """Return the runner-up against the first; None without a runner-up."""
    place = len(dimension.champions)
    return evidence[place - 1] if len(dimension.ranked) > place else None


def _is_sure(second: AgainstFirst | None) -> bool:
    return second is not None and second.p is not None and second.p <= LEVEL


def _champion(
    dimension: Dimension, evidence: AgainstFirst | None, report: CapabilityReport
) -> tuple[Cell, ...]:
    best = dimension.champions
    second = dimension.ranked[len(best)] if len(dimension.ranked) > len(best) else None
    return (
        TITLES.get(dimension.key, dimension.key),
        tuple(model_name(report, one.model) for one in best) or None,
        best[0].grade if best else None,
        min((one.suites for one in best), default=None),
        second and model_name(report, second.model),
        second and second.grade,
        *((*evidence, METHOD) if evidence else (None,) * 3),
        len(dimension.ranked),
    )


def excluded_table(
    rankings: CapabilityRanks, dimensions: Iterable[Dimension], report: CapabilityReport
) -> Table:
    left_out = [(weighed.row.name, found) for weighed, _, found in rankings]
    left_out += [(TITLES.get(one.key, one.key), list(one.excluded)) for one in dimensions]
    grouped: dict[tuple[str, str], list[str]] = defaultdict(list)
    for place, excluded in left_out:
        for reason in dict.fromkeys(one.reason for one in excluded):
            models = [model_name(report, one.model) for one in excluded if one.reason == reason]
            grouped[reason, ", ".join(sorted(models))].append(place)
    return Table(
        key="excluded",
        title="Not ranked",
        columns=(
            Column("models", "Models"),
            Column("reason", "Reason"),
            Column("places", "Capabilities and dimensions"),
        ),
        rows=[(models, reason, ", ".join(places)) for (reason, models), places in grouped.items()],
        empty="No model is left out.",
    )


def weights_table(shown: Iterable[Weighed]) -> Table:
    return Table(
        key="weights",
        title="Weights",
        columns=(
            Column("capability", "Capability", "link"),
            Column("kind", "Kind"),
            Column("name", "Name"),
            Column("weight", "Weight", "number"),
            Column("owner", "Owner", "text", "The methodology, or this workspace"),
        ),
        rows=[
            (
                _edited(weighed),
                weight.get_kind_display(),
                _called(weight),
                weight.weight,
                weight.get_origin_display(),
            )
            for weighed in shown
            for weight in weighed.weights
        ],
        note="Select the capability to change its weights.",
        empty="No weights yet.",
    )


def _edited(weighed: Weighed) -> Link:
    return Link(weighed.row.name, row_url("admin:reports_capability_change", weighed.row.pk))


def _called(weight: CapabilityWeight) -> str:
    is_dimension = weight.kind == WeightKind.DIMENSION
    return TITLES.get(weight.name, weight.name) if is_dimension else weight.name


def components_table(shown: Iterable[Weighed]) -> Table:
    rows = [_counts(weighed) for weighed in shown]
    return Table(
        key="components",
        title="Components and weights",
        columns=(
            Column("capability", "Capability", "link", "Opens its weights"),
            Column("owner", "Owner", "text", "The methodology, or this workspace"),
            *(Column(kind.value, f"{kind.label}s") for kind in WeightKind),
            Column("change", "Change", "link"),
        ),
        rows=rows,
        **folded(len(rows), 0, "capability", "capabilities", said="with its weights"),
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
