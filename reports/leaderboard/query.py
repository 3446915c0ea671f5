"""The latest conclusive run of each suite and model, with scores, for leaderboards."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import QuerySet

from evalhub.llm.model_identity import Identity
from reports.documents.topic_names import TEST, topic_key
from reports.leaderboard.jury_rule import ComparableRuns, comparable_runs
from reports.leaderboard.pairing_rule import ScoredTest
from reports.leaderboard.rule import Latest, SuiteRun, Sums, latest, remixed
from reports.queries.conclusive_runs import sums_of
from reports.queries.incomplete_runs import IncompleteRun, incomplete_runs
from reports.queries.names import all_tag_names, identities
from reports.queries.topics import RunTopics, Topics, tags_by_suite
from runs.comparison.baselines import baselines_of
from runs.comparison.comparability import SCORING, scoring, with_active
from runs.comparison.comparability_rule import Scoring
from runs.comparison.release_order import newest_first
from runs.figures.run_labels import labels
from runs.models import Result, Run, TagSet


@dataclass(frozen=True)
class LeftOut:
    """An incomplete run of a suite, with the key of its model."""

    found: IncompleteRun
    model: str
    topics: Topics


@dataclass(frozen=True)
class Field:
    """Conclusive runs of suites that are not tagged "test", by run; `outside` counts the others.

    `entrants` are oldest first, `scorings` those of their scales. `tried_out` are the suites with
    that tag. `models` has all language models by id. `incomplete` runs would count if enough of
    them were scored and judged: newer ones of their suite and model do not.
    """

    entrants: dict[int, SuiteRun]
    scorings: dict[str, Scoring]
    models: dict[int, Identity]
    topics: RunTopics
    tried_out: set[int]
    outside: int
    incomplete: tuple[LeftOut, ...]

    @cached_property
    def identities(self) -> dict[str, Identity]:
        """The identities of all language models by key, the newest of equal ones."""
        return {identity.key: identity for identity in self.models.values()}

    @cached_property
    def comparable(self) -> ComparableRuns:
        """The runs on the scales of their suites, and those that are not."""
        entrants = self.entrants.values()
        found = baselines_of({took.suite for took in entrants})
        baselines = {suite: runs[0] for suite, runs in found.items()}
        return comparable_runs(entrants, self.scorings, baselines)

    @cached_property
    def latest(self) -> list[Latest]:
        """The runs that count for each suite and model: comparable within a suite."""
        return latest(self.comparable.counted)

    def about(self, topic: str) -> list[Latest]:
        """Return the runs that count for this topic."""
        return [one for one in self.latest if topic in self.topics_of(one)]

    def topics_of(self, one: Latest) -> Topics:
        took = [self.entrants[run] for run in one.runs]
        return frozenset().union(*(self.topics.of(run.run, run.suite, run.launch) for run in took))

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
        fields = ("run_id", "revision_id", "issue_id", "weight", "judges_score", "similarity")
        for run, revision, issue, weight, score, similar in (
            _scored(runs, tag).values_list(*fields).iterator(10_000)
        ):
            took = self.entrants[run]
            at = remixed(score, similar, own_beta=took.own_beta, beta=beta or took.own_beta)
            if at is not None:
                found[run].append(ScoredTest(revision, issue, weight, at, took.scale))
        return dict(found)


COLUMNS = (
    *("pk", "suite_id", "language_model_id", "variant_key", "launch_id", "suite_fingerprint"),
    *("active__jury_name", "is_conclusive"),
    *SCORING,
)


def field_of_runs() -> Field:
    """Read everything but the scores; the number of queries is constant."""
    tags, models = tags_by_suite(), identities()
    topics, tried_out = RunTopics(tags), tried_out_suites(tags)
    entrants: dict[int, SuiteRun] = {}
    scorings: dict[str, Scoring] = {}
    lacking: dict[tuple[int, str], list[int]] = defaultdict(list)
    outside = 0
    runs = with_active(Run.objects.complete().with_conclusive(with_judgments=True))
    places = {one.run: place for place, one in enumerate(newest_first(runs))}
    rows = runs.order_by().values_list(*COLUMNS)
    for row in sorted(rows, key=lambda row: -places[row[0]]):
        run, suite, model_id, variant, launch, tests, jury, is_conclusive, *how = row
        model = models[model_id].key
        if suite is None or suite in tried_out:
            outside += is_conclusive
        elif is_conclusive:
            judged = scoring(*how).of_any_model
            scorings[scale := judged.key] = judged
            entrants[run] = SuiteRun(
                run, suite, model, variant, launch, tests, scale, jury or "", how[0], model_id
            )
            lacking.pop((suite, model), None)
        else:
            lacking[suite, model].append(run)
    return Field(
        entrants=entrants,
        scorings=scorings,
        models=models,
        topics=topics,
        tried_out=tried_out,
        outside=outside,
        incomplete=_left_out([run for some in lacking.values() for run in some], models, topics),
    )


def _left_out(
    runs: Collection[int], models: Mapping[int, Identity], topics: RunTopics
) -> tuple[LeftOut, ...]:
    """Return these incomplete runs, newest first."""
    left_out = Run.objects.filter(pk__in=runs)
    found = incomplete_runs(left_out, with_judgments=True) if runs else ()
    return tuple(
        LeftOut(
            one,
            models[one.run.language_model_id].key,
            topics.of(one.run.pk, one.run.suite_id, one.run.launch_id),
        )
        for one in found
    )


def tried_out_suites(tags: dict[int, tuple[str, ...]]) -> set[int]:
    """Return the suites with the tag "test", of the result of `tags_by_suite`."""
    return {suite for suite, names in tags.items() if TEST in map(topic_key, names)}


def tag_sets_with(tag: str) -> list[int] | None:
    """Return the sets of tags that have this one; None for no tag: all sets."""
    if not tag:
        return None
    names = all_tag_names()
    return [pk for pk in names if tag in names[pk]]


def _scored(runs: Iterable[int], tag: str) -> QuerySet[Result]:
    rows = Result.objects.filter(run__in=list(runs), judges_score__isnull=False).order_by()
    tag_sets = tag_sets_with(tag)
    return rows if tag_sets is None else rows.filter(tag_set__in=tag_sets)


def frozen_tags() -> list[str]:
    """Return all tags that tests had at any launch."""
    rows = TagSet.objects.order_by().values_list("names", flat=True)
    return sorted({name for names in rows for name in names})


def labels_by_run(runs: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Return the labels of these runs' figures; one query."""
    rows = with_active(Run.objects.filter(pk__in=runs)).order_by()
    columns = ("endpoint", "is_scripted", "has_imported_answers", "active__jury")
    return {pk: labels(*found) for pk, *found in rows.values_list("pk", *columns)}


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
