"""Records of models, grades and weights, from which capabilities are computed."""

from collections.abc import Iterable
from dataclasses import dataclass

from evalhub.models import BatchState
from reports.capabilities.champions_rule import Graded, mean_grades
from reports.capabilities.rule import Bucket, InSuite, Record
from reports.documents.topic_names import topic_key
from reports.leaderboard.query import Field, field_of_runs, tried_out_suites
from reports.leaderboard.rule import suite_scores
from reports.models import Capability, CapabilityWeight, Grade, WeightKind
from reports.queries.model_identities import identities
from runs.models import Suite


@dataclass(frozen=True)
class Weighed:
    """A capability with its weights. `missing` are listed suites that do not exist."""

    row: Capability
    bucket: Bucket
    weights: tuple[CapabilityWeight, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class CapabilityReport:
    """Capabilities, with the records of all models that have a conclusive run of a suite."""

    field: Field
    capabilities: tuple[Weighed, ...]
    records: tuple[Record, ...]
    graded: tuple[Graded, ...]


def capability_report() -> CapabilityReport:
    """Read capabilities, records and grades; the number of queries is constant."""
    field = field_of_runs()
    graded = tuple(grades())
    return CapabilityReport(field, tuple(_capabilities()), tuple(_records(field, graded)), graded)


def grades() -> list[Graded]:
    """Return the grades of the latest finished summary of each suite and model.

    Suites tagged "test" are left out. Models that a leaderboard counts as one share a key.
    """
    models = identities()
    rows = Grade.objects.filter(summary__state=BatchState.DONE, summary__suite__isnull=False)
    rows = rows.exclude(summary__suite__in=tried_out_suites()).order_by("summary_id")
    newest: dict[tuple[int, str], tuple[int, list[Graded]]] = {}
    for suite, language_model, summary, dimension, grade in rows.values_list(*GRADE_FIELDS):
        model = models[language_model].key
        if newest.get((suite, model), (0, []))[0] != summary:
            newest[suite, model] = summary, []
        if grade is not None:
            newest[suite, model][1].append(Graded(model, suite, dimension, grade))
    return [graded for _, found in newest.values() for graded in found]


GRADE_FIELDS = ("summary__suite_id", "language_model_id", "summary_id", "dimension", "grade")


def _records(field: Field, graded: Iterable[Graded]) -> Iterable[Record]:
    sums = field.sums(field.latest)
    scores = suite_scores(field.latest, {run: one.score for run, one in sums.items()})
    topics = {(one.model, one.suite): field.topics_of(one) for one in field.latest}
    names = {one.took.suite: one.suite_name for one in field.entrants.values()}
    means = mean_grades(graded)
    for model in sorted({entrant.took.model for entrant in field.entrants.values()}):
        took = [one.took for one in field.entrants.values() if one.took.model == model]
        yield Record(
            model=model,
            runs=len(took),
            suites=len({one.suite for one in took}),
            grades={key: of[model].grade for key, of in means.items() if model in of},
            scores={
                names[suite]: InSuite(found.score, topics[model, suite])
                for suite, found in scores.get(model, {}).items()
            },
        )


def _capabilities() -> Iterable[Weighed]:
    present = set(Suite.objects.order_by().values_list("name", flat=True))
    for row in Capability.objects.prefetch_related("weights"):
        weights = tuple(row.weights.all())
        suites = _by_name(weights, WeightKind.SUITE)
        bucket = Bucket(
            row.name,
            dimensions=_by_name(weights, WeightKind.DIMENSION),
            topics={topic_key(k): w for k, w in _by_name(weights, WeightKind.TOPIC).items()},
            suites=suites,
        )
        yield Weighed(row, bucket, weights, tuple(sorted(suites.keys() - present)))


def _by_name(weights: Iterable[CapabilityWeight], kind: WeightKind) -> dict[str, float]:
    return {weight.name: weight.weight for weight in weights if weight.kind == kind}
