"""Outcomes of issues in conclusive runs: the rows of `reports.issue_timeline.rule`."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np
from django.db.models import Count, Q
from django.utils import timezone

from evalhub.statistics.rates.behaviour_outcome import FalseFails
from evalhub.values.id_in import IdIn
from issues.models import Issue
from reports.documents.reading import Reading
from reports.issue_timeline.rule import NOT_MEASURED, IssueResult
from reports.judge_reliability.accuracy_rule import Sample
from reports.judge_reliability.trust_rule import MIN_OF_EACH
from reports.queries.human_agreement import calibration, jury_key_of, newest_evaluated_runs
from runs.comparison.comparability import SCORING, scoring, with_active
from runs.comparison.comparability_rule import Scoring
from runs.comparison.release_order_rule import in_release_order
from runs.models import Outcome, Release, Result, Run


class RunInfo(NamedTuple):
    """A conclusive run as reports on issues show it. `release` is "" if it has none.

    `reopens`: its suite has issues reopened without asking; None without a suite.
    `scoring` tells whether its outcomes may be compared with those of another run; `jury` is the
    fingerprint of the active jury, "" without one.
    """

    pk: int
    label: str
    model_name: str
    model_id: int
    variant: str
    release: str
    launch: int | None
    repeats: int
    reopens: bool | None
    at: datetime
    jury: str
    scoring: Scoring

    @property
    def run(self) -> int:
        return self.pk

    @property
    def together(self) -> str:
        """Key of the runs of one launch on one day: a schedule repeats launches."""
        return f"{self.launch} {self.at:%Y-%m-%d}" if self.launch else f"run {self.pk}"


@dataclass(frozen=True)
class Sightings:
    """Results of runs by issue. A line is a variant of a model."""

    runs: Mapping[int, RunInfo]
    by_issue: Mapping[int, list[IssueResult]]


COLUMNS = (
    "pk",
    "label",
    "model_name",
    "language_model_id",
    "variant_key",
    "release",
    "launch_id",
    "repeats",
    "suite__reopens_issues",
    "created_at",
    "active__jury_fingerprint",
)


def run_infos() -> list[RunInfo]:
    """Return all conclusive runs in the order of releases; three queries."""
    # Joined in the query that chooses them, every run would be compared with every judge run.
    conclusive = IdIn("pk", Run.objects.conclusive().order_by().values_list("pk", flat=True))
    rows = with_active(Run.objects.filter(conclusive)).order_by()
    n, zone = len(COLUMNS), timezone.get_current_timezone()
    found = [
        RunInfo._make(
            (
                *row[: n - 2],
                row[n - 2].astimezone(zone),
                row[n - 1] or "",
                scoring(*row[n:]),
            )
        )
        for row in rows.values_list(*COLUMNS, *SCORING)
    ]
    return in_release_order(found, Release.objects.in_order())


EVALUATED = 50
"""Newest runs with human evaluations in which false fails of judges are measured."""


def false_fails(runs: Iterable[RunInfo], reading: Reading) -> dict[int, FalseFails]:
    """Return the false fails of the active jury of each run, if measured.

    That takes 10 answers that humans passed, drawn at random and judged blind. Four queries, and
    more where it is not kept yet; a page shows none until they are computed.
    """
    found = calibration(newest_evaluated_runs(EVALUATED, reading), reading)
    lines = found.measured[Sample.DRAWN] if found else []
    passes = {line.party: line.evidence.passes for line in lines}
    rates = {
        party: FalseFails.measured(side.n - side.right, side.n)
        for party, side in passes.items()
        if side.n >= MIN_OF_EACH
    }
    keys = {run.pk: jury_key_of(run.jury) for run in runs if run.jury}
    return {run: rates[key] for run, key in keys.items() if key in rates}


def _n(outcome: Outcome) -> Count:
    """Count answers of this outcome; a disputed one keeps that of the judges."""
    disputed = Q(outcome=Outcome.UNSCORED, is_disputed=True, judges_outcome=outcome)
    return Count("pk", filter=Q(outcome=outcome) | disputed)


COUNTS = {
    "n_passed": _n(Outcome.PASSED),
    "n_failed": _n(Outcome.FAILED),
    "n": Count("pk"),
    "least_failed": Count("pk", filter=Q(highest_passed=False)),
    "most_failed": Count("pk", filter=Q(lowest_passed=False)),
    "confirmed": Count("pk", filter=Q(outcome=Outcome.FAILED, is_overridden=True)),
}


def sightings(
    issues: Collection[int], runs: Iterable[RunInfo], rates: Mapping[int, FalseFails]
) -> Sightings:
    """Count the outcomes of these issues in these runs by test; two queries.

    Args:
        runs: In the order of releases.
        rates: Of `false_fails`.
    """
    infos = {run.pk: run for run in runs}
    places = {run: place for place, run in enumerate(infos)}
    rows = Result.objects.filter(IdIn("run_id", infos), issue__in=issues).order_by()
    counted = rows.values_list("issue_id", "run_id", "test_id").annotate(**COUNTS)
    tests: dict[tuple[int, int], list[tuple[int, ...]]] = defaultdict(list)
    for issue, run, test, passed, failed, n, *bounds in counted:
        tests[issue, run].append((test, passed, failed, n - passed - failed, *bounds))
    severities = dict(Issue.objects.filter(pk__in=issues).values_list("pk", "severity"))
    found: dict[int, list[IssueResult]] = {issue: [] for issue in issues}
    for (issue, pk), answers in sorted(tests.items()):
        run = infos[pk]
        found[issue].append(
            IssueResult(
                run=pk,
                line=run.variant,
                release=run.release,
                together=run.together,
                at=run.at,
                severity=severities[issue],
                tests=np.array(answers, np.int64),
                false_fails=rates.get(pk, NOT_MEASURED),
                place=places[pk],
            )
        )
    return Sightings(infos, found)
