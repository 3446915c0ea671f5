"""The latest conclusive run of each suite and model, with scores, for leaderboards."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Q, QuerySet

from evalhub.llm.identity import Identity
from reports.documents.topic_names import TEST, topic_key
from reports.leaderboard.jury_rule import ComparableRuns, comparable_runs
from reports.leaderboard.pairing_rule import ScoredTest
from reports.leaderboard.rule import Latest, SuiteRun, Sums, latest, remixed
from reports.queries.conclusive_runs import conclusive_runs_with_times, sums_of
from reports.queries.incomplete_runs import IncompleteRun, incomplete_runs
from reports.queries.model_identities import identities
from reports.queries.topics import Topics, tags_by_suite, topics_of
from runs.baselines import baselines_of
from runs.comparability import SCORING, Scoring, scoring, with_active
from runs.figures.run_labels import LABELLED, labels
from runs.figures.run_tallies import summed
from runs.models import Result, Run, TagSet


@dataclass(frozen=True)
class Entrant:
    """A conclusive run of a suite on a leaderboard.

    `scoring` is how it was judged, by the jury of the name `jury`. `model_name` is the
    name as it was at launch; `own_beta` the share of similarity in the scores.
    """

    model_id: int
    took: SuiteRun
    scoring: Scoring
    jury: str
    label: str
    model_name: str
    suite_name: str
    own_beta: float
    topics: Topics


@dataclass(frozen=True)
class LeftOut:
    """An incomplete run of a suite, with the key of its model."""

    found: IncompleteRun
    model: str
    topics: Topics


@dataclass(frozen=True)
class Field:
    """Conclusive runs of suites that are not tagged "test", by run; `outside` counts the others.

    `identities` are those of all language models by key, the newest of equal ones. `incomplete`
    runs would count if enough of them were scored: newer ones of their suite and model do not.
    """

    entrants: dict[int, Entrant]
    identities: dict[str, Identity]
    outside: int
    incomplete: tuple[LeftOut, ...]

    @cached_property
    def comparable(self) -> ComparableRuns:
        """The runs on the scales of their suites, and those that are not."""
        entrants = self.entrants.values()
        return comparable_runs(
            ((entrant.took, entrant.scoring) for entrant in entrants),
            baselines_of({entrant.took.suite for entrant in entrants}),
        )

    @cached_property
    def latest(self) -> list[Latest]:
        """The runs that count for each suite and model: comparable within a suite."""
        return latest(self.comparable.counted)

    def about(self, topic: str) -> list[Latest]:
        """Return the runs that count for this topic."""
        return [one for one in self.latest if topic in self.topics_of(one)]

    def topics_of(self, one: Latest) -> Topics:
        return frozenset().union(*(self.entrants[run].topics for run in one.runs))

    def sums(
        self, counted: Iterable[Latest], tag: str = "", *, is_remixed: bool = False
    ) -> dict[int, Sums]:
        """Add up the results of these runs, or of those tests that had the tag at launch."""
        runs = [run for one in counted for run in one.runs]
        betas = {run: self.entrants[run].own_beta for run in runs}
        return sums_of(runs, betas, tag_sets=tag_sets_with(tag), is_remixed=is_remixed)

    def test_scores(
        self, runs: Iterable[int], tag: str = "", *, beta: float = 0
    ) -> dict[int, list[ScoredTest]]:
        """Read the scored results of these runs, of tests that had the tag at launch; one query.

        Args:
            beta: Weight of similarity; 0 keeps the scores.
        """
        found: dict[int, list[ScoredTest]] = defaultdict(list)
        fields = ("run_id", "test_id", "issue_id", "weight", "score", "similarity", "is_overridden")
        rows = _scored(runs, tag).values_list(*fields)
        for run, test, issue, weight, score, similarity, is_overridden in rows.iterator(10_000):
            own = self.entrants[run].own_beta
            at = remixed(
                score,
                similarity,
                is_overridden=is_overridden,
                own_beta=own,
                beta=beta or own,
            )
            if at is not None:
                found[run].append(ScoredTest(test, issue, weight, at))
        return dict(found)


FIELDS = (
    "pk",
    "suite_id",
    "language_model_id",
    "variant_key",
    "launch_id",
    "began_at",
    "suite_fingerprint",
    "label",
    "model_name",
    "suite__name",
    "active__jury_name",
    *SCORING,
)


def field_of_runs() -> Field:
    """Read everything but the scores; the number of queries is constant."""
    rows = conclusive_runs_with_times()
    tags = tags_by_suite()
    tried_out = tried_out_suites(tags)
    found = list(rows.order_by().values(*FIELDS))
    real = [row for row in found if row["suite_id"] and row["suite_id"] not in tried_out]
    in_suites = Run.objects.exclude(suite=None).exclude(suite__in=tried_out)
    lacking = incomplete_runs(in_suites)
    topics = topics_of(
        [
            *((row["pk"], row["suite_id"], row["launch_id"]) for row in real),
            *((one.run.pk, one.run.suite_id, one.run.launch_id) for one in lacking),
        ],
        tags,
    )
    models = identities()
    entrants = {
        row["pk"]: _entrant(row, models[row["language_model_id"]].key, topics[row["pk"]])
        for row in real
    }
    left_out = [
        LeftOut(one, models[one.run.language_model_id].key, topics[one.run.pk]) for one in lacking
    ]
    return Field(
        entrants=entrants,
        identities={identity.key: identity for identity in models.values()},
        outside=len(found) - len(real),
        incomplete=tuple(_not_replaced(left_out, entrants.values())),
    )


def _entrant(row: dict[str, Any], model: str, topics: Topics) -> Entrant:
    """Return the run of a row of `FIELDS`, with the key of its model."""
    how = scoring(*(row[name] for name in SCORING))
    return Entrant(
        model_id=row["language_model_id"],
        took=SuiteRun(
            run=row["pk"],
            suite=row["suite_id"],
            model=model,
            variant=row["variant_key"],
            launch=row["launch_id"],
            at=row["began_at"],
            version=f"{row['suite_fingerprint']} {how.key}",
        ),
        scoring=how,
        jury=row["active__jury_name"] or "",
        label=row["label"],
        model_name=row["model_name"],
        suite_name=row["suite__name"],
        own_beta=row["similarity_weight"],
        topics=topics,
    )


def _not_replaced(left_out: Iterable[LeftOut], entrants: Iterable[Entrant]) -> Iterator[LeftOut]:
    """Yield the incomplete runs that no later run of their suite and model replaces."""
    newest: dict[tuple[int, str], tuple[datetime, int]] = {}
    for took in sorted((one.took for one in entrants), key=lambda took: (took.at, took.run)):
        newest[took.suite, took.model] = took.at, took.run
    for one in left_out:
        run = one.found.run
        at = run.started_at or run.created_at
        later = newest.get((run.suite_id or 0, one.model))
        if later is None or (at, run.pk) > later:
            yield one


def tried_out_suites(tags: dict[int, tuple[str, ...]] | None = None) -> set[int]:
    """Return the suites with the tag "test".

    Args:
        tags: Result of `tags_by_suite`; None: read it.
    """
    tags = tags_by_suite() if tags is None else tags
    return {suite for suite, names in tags.items() if TEST in map(topic_key, names)}


def tag_sets_with(tag: str) -> list[int] | None:
    """Return the sets of tags that have this one; None for no tag: all sets."""
    if not tag:
        return None
    names = dict(TagSet.objects.order_by().values_list("pk", "names"))
    return [pk for pk in names if tag in names[pk]]


def _scored(runs: Iterable[int], tag: str) -> QuerySet[Result]:
    rows = Result.objects.filter(run__in=list(runs), score__isnull=False).order_by()
    tag_sets = tag_sets_with(tag)
    return rows if tag_sets is None else rows.filter(tag_set__in=tag_sets)


def checksums(runs: Iterable[int], tag: str = "") -> dict[int, float]:
    """Return a number for each run that changes with the score of any of its tests.

    It is Σ test·weight·score to 12 digits, since engines add in any order.
    """
    tag_sets = tag_sets_with(tag)
    which = None if tag_sets is None else Q(tag_set__in=tag_sets)
    found = summed(runs, ("run_id",), ("test_scores",), which)
    return {run: float(f"{total:.12g}") for run, total in found}


def frozen_tags() -> list[str]:
    """Return all tags that tests had at any launch."""
    rows = TagSet.objects.order_by().values_list("names", flat=True)
    return sorted({name for names in rows for name in names})


def labels_by_run(runs: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Return the labels of these runs' figures; one query."""
    rows = with_active(Run.objects.filter(pk__in=runs)).order_by()
    columns = ("pk", *LABELLED, "active__jury")
    return {pk: labels(*row) for pk, *row in rows.values_list(*columns)}


def all_labels(labels: Mapping[Any, Iterable[str]]) -> tuple[str, ...]:
    """Return the labels that any run or model has, sorted."""
    return tuple(sorted({label for found in labels.values() for label in found}))


def labels_by_model(runs: dict[str, list[int]]) -> dict[str, tuple[str, ...]]:
    """Return the labels of each model's runs."""
    by_run = labels_by_run([run for some in runs.values() for run in some])
    return {
        model: tuple(sorted({label for run in some for label in by_run.get(run, ())}))
        for model, some in runs.items()
    }
