"""Trials of a benchmark with their verdicts, in a fixed number of queries."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet

from evalhub.models import BatchState, ItemState, User
from reports.judge_reliability.trials.fit_rule import TaskFit, fits_of
from runs.laboratory.trials.judges.measures import ClaimVerdict, JudgeMeasures, measures_of
from runs.laboratory.trials.judges.verdicts import Judged, judged_claims
from runs.laboratory.trials.models import (
    Artifact,
    Benchmark,
    Claim,
    Review,
    Topic,
    Trial,
    Validation,
    Validity,
)
from runs.laboratory.tuning.models import Split


@dataclass(frozen=True)
class TrialReport:
    """The newest trial of each judge of a benchmark, and all judgments of its usable claims.

    `claims` are the ids of those that pass the filters, `judged` all judgments by trial, `texts`
    the numbers of reference texts: all, corrupted, excluded and not checked.
    """

    benchmark: Benchmark
    trials: tuple[Trial, ...]
    claims: frozenset[int]
    judged: Mapping[int, Sequence[Judged]]
    topics: Mapping[str, str]
    validations: Mapping[str, Sequence[Validation]] = field(default_factory=dict)
    order: int | None = None
    texts: Mapping[str, int] = field(default_factory=dict)
    held_out: frozenset[int] = frozenset()

    @property
    def is_tuned(self) -> bool:
        """Return whether a judge's prompt or threshold may fit some claims."""
        return any(trial.is_tuned for trial in self.trials)

    @cached_property
    def names(self) -> dict[int, str]:
        """Return a short name of each trial's judge that no other has."""
        found = {trial.pk: _name(trial) for trial in self.trials}
        twice = {name for name, n in Counter(found.values()).items() if n > 1}
        full = {t.pk: t.judge_name if found[t.pk] in twice else found[t.pk] for t in self.trials}
        twice = {name for name, n in Counter(full.values()).items() if n > 1}
        return {pk: f"{name}, trial {pk}" if name in twice else name for pk, name in full.items()}

    @property
    def scripted(self) -> list[str]:
        return [self.names[trial.pk] for trial in self.trials if trial.is_scripted]

    @property
    def incomplete(self) -> list[int]:
        """Return the trials that have not ended."""
        return [trial.pk for trial in self.trials if trial.state != BatchState.DONE]

    @cached_property
    def fits(self) -> dict[int, list[TaskFit]]:
        """Return the conclusion on each task by trial, whatever the filters."""
        return fits_of(self.verdicts, incomplete=self.incomplete)

    @cached_property
    def verdicts(self) -> dict[int, list[ClaimVerdict]]:
        """Return the verdicts to conclude from, whatever the filters; those to come have none.

        They are all, or the held-out ones once a judge was tuned.
        """
        return {
            trial.pk: [
                one.verdict
                for one in self.judged.get(trial.pk, ())
                if not self.is_tuned or one.claim in self.held_out
            ]
            for trial in self.trials
        }

    @cached_property
    def shown(self) -> dict[int, list[Judged]]:
        """Return the judgments by trial that pass the filters and have ended."""
        return {
            trial.pk: [one for one in self.judged.get(trial.pk, ()) if self._is_shown(one)]
            for trial in self.trials
        }

    @cached_property
    def measures(self) -> dict[int, JudgeMeasures]:
        """Return the figures of each trial on what is shown."""
        return {pk: measures_of(one.verdict for one in mine) for pk, mine in self.shown.items()}

    def _is_shown(self, one: Judged) -> bool:
        is_ended = one.state in (ItemState.DONE, ItemState.ERROR)
        return is_ended and one.claim in self.claims and self.order in (None, one.order)


def _name(trial: Trial) -> str:
    return str(trial.language_model) if trial.language_model else trial.judge_name


def trial_report(benchmark: Benchmark, filters: Mapping[str, Any], reader: User) -> TrialReport:
    """Read the newest trial of each judge; filters are those of the page."""
    newest = (
        Trial.objects.filter(benchmark=benchmark)
        .exclude(state=BatchState.CANCELLED)
        .order_by()
        .values("method")
        .annotate(newest=Max("pk"))
        .values("newest")
    )
    trials = tuple(
        Trial.objects.filter(pk__in=newest)
        .select_related("language_model", "template", "benchmark")
        .order_by("pk")
    )
    usable = Claim.objects.filter(benchmark=benchmark).usable()
    topics = Topic.objects.filter(benchmark=benchmark)
    readable = dict(topics.readable_by(reader).values_list("pk", "title"))
    validated = Validation.objects.filter(
        method__in=[trial.method for trial in trials], withdrawn_at=None
    ).select_related("trial__benchmark", "by")
    order = filters.get("order")
    if any(trial.is_tuned for trial in trials) and not filters.get("split"):
        filters = {**filters, "split": Split.HELD_OUT}
    return TrialReport(
        benchmark=benchmark,
        trials=trials,
        claims=frozenset(filtered(usable, filters).values_list("pk", flat=True)),
        held_out=frozenset(usable.filter(split=Split.HELD_OUT).values_list("pk", flat=True)),
        judged=judged_claims(trials, usable, benchmark.kinds),
        topics={
            str(pk): readable.get(pk, f"Topic {n}")
            for n, pk in enumerate(topics.values_list("pk", flat=True), 1)
        },
        validations=_by_method(validated),
        order=int(order) if order not in (None, "") else None,
        texts=Artifact.objects.filter(benchmark=benchmark, replay=None).aggregate(
            all=Count("pk"),
            corrupted=Count("pk", filter=Q(validity=Validity.CORRUPTED)),
            excluded=Count("pk", filter=Q(review=Review.EXCLUDED)),
            not_checked=Count("pk", filter=Q(validity=Validity.NOT_CHECKED)),
        ),
    )


def filtered(claims: QuerySet[Claim], filters: Mapping[str, Any]) -> QuerySet[Claim]:
    """Filter claims by kind, split, topic and cluster."""
    if kind := filters.get("kind"):
        claims = claims.filter(kind=kind)
    if topic := filters.get("topic"):
        claims = claims.filter(topic=topic)
    if split := filters.get("split"):
        claims = claims.filter(split=split)
    if cluster := filters.get("cluster"):
        claims = claims.filter(topic__is_cluster=cluster == "cluster")
    return claims


def _by_method(rows: QuerySet[Validation]) -> dict[str, list[Validation]]:
    found: dict[str, list[Validation]] = {}
    for row in rows:
        found.setdefault(row.method, []).append(row)
    return found


def trials_with_counts() -> QuerySet[Trial]:
    """Return all trials, newest first, with their judgments by state."""
    rows = Trial.objects.select_related("benchmark", "language_model", "template").annotate(
        total=Count("judgments"),
        ended=Count("judgments", filter=~Q(judgments__state=ItemState.PENDING)),
        failed=Count("judgments", filter=Q(judgments__state=ItemState.ERROR)),
    )
    found: QuerySet[Trial] = rows.order_by("-pk")
    return found


def claim_names(ids: Sequence[int], reader: User) -> dict[int, dict[str, Any]]:
    """Return what names these claims; texts of sealed benchmarks only to those who may read."""
    rows = Claim.objects.filter(pk__in=ids).annotate(
        of_left=F("left__idea__name"), of_right=F("right__idea__name"), of_part=F("idea__name")
    )
    readable = set(rows.readable_by(reader).values_list("pk", flat=True))
    names = ("of_left", "of_right", "of_part")
    found = {}
    for row in rows.values("pk", "kind", "truth", "hardness", "topic", "languages", *names):
        hidden = dict.fromkeys(names, "") if row["pk"] not in readable else {}
        found[row["pk"]] = row | hidden
    return found
