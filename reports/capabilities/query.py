"""Records of models, grades and weights, from which capabilities are computed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from evalhub.models import BatchState
from reports.capabilities.champions_rule import Graded, Means, mean_grades
from reports.capabilities.rule import Bucket, InSuite, Record
from reports.documents.topic_names import topic_key
from reports.leaderboard.query import Field, field_of_runs
from reports.leaderboard.rule import suite_scores
from reports.models import Capability, CapabilityWeight, Grade, WeightKind
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
    means: Means
    suites: Mapping[int, str]

    @cached_property
    def graded(self) -> set[tuple[str, int]]:
        """The model and the suite of each summary with a grade."""
        means = [mean for models in self.means.values() for mean in models.values()]
        return {(mean.model, suite) for mean in means for suite in mean.by_suite}


def capability_report() -> CapabilityReport:
    """Read capabilities, records and grades; the number of queries is constant."""
    suites = dict(Suite.objects.order_by().values_list("pk", "name"))
    field = field_of_runs()
    means = mean_grades(grades(field))
    capabilities, records = _capabilities(suites.values()), _records(field, means, suites)
    return CapabilityReport(field, tuple(capabilities), tuple(records), means, suites)


def grades(field: Field) -> list[Graded]:
    """Return the grades of the latest finished summary of each suite and model.

    Suites tagged "test" are left out. Models that a leaderboard counts as one share a key.
    """
    rows = Grade.objects.filter(summary__state=BatchState.DONE, summary__suite__isnull=False)
    rows = rows.exclude(summary__suite__in=field.tried_out).order_by("summary_id")
    newest: dict[tuple[int, str], tuple[int, list[Graded]]] = {}
    for suite, language_model, summary, dimension, grade in rows.values_list(*GRADE_FIELDS):
        model = field.models[language_model].key
        if newest.get((suite, model), (0, []))[0] != summary:
            newest[suite, model] = summary, []
        if grade is not None:
            newest[suite, model][1].append(Graded(model, suite, dimension, grade))
    return [graded for _, found in newest.values() for graded in found]


GRADE_FIELDS = ("summary__suite_id", "language_model_id", "summary_id", "dimension", "grade")


def _records(field: Field, means: Means, suites: Mapping[int, str]) -> Iterable[Record]:
    sums = field.sums(field.latest)
    scores = suite_scores(field.latest, {run: one.score for run, one in sums.items()})
    topics = {(one.model, one.suite): field.topics_of(one) for one in field.latest}
    took: dict[str, list[int]] = defaultdict(list)
    for one in field.entrants.values():
        took[one.model].append(one.suite)
    for model, suite_runs in sorted(took.items()):
        yield Record(
            model=model,
            runs=len(suite_runs),
            suites=len(set(suite_runs)),
            grades={key: of[model].grade for key, of in means.items() if model in of},
            scores={
                suites[suite]: InSuite(found.score, topics[model, suite])
                for suite, found in scores.get(model, {}).items()
            },
        )


def _capabilities(present: Collection[str]) -> Iterable[Weighed]:
    for row in Capability.objects.prefetch_related("weights"):
        weights = tuple(row.weights.all())
        suites = _by_name(weights, WeightKind.SUITE)
        bucket = Bucket(
            row.name,
            dimensions=_by_name(weights, WeightKind.DIMENSION),
            topics={topic_key(k): w for k, w in _by_name(weights, WeightKind.TOPIC).items()},
            suites=suites,
        )
        yield Weighed(row, bucket, weights, tuple(sorted(suites.keys() - set(present))))


def _by_name(weights: Iterable[CapabilityWeight], kind: WeightKind) -> dict[str, float]:
    return {weight.name: weight.weight for weight in weights if weight.kind == kind}
