"""The issues of the newest release that fail, over all its models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count

from evalhub.values.id_in import IdIn
from issues.models import Feedback, Issue
from reports.compare.pair_changes_query import lost_in_all
from reports.documents.reading import Reading
from reports.issue_proposals.proposals import state_of_workspace
from reports.issue_timeline.rule import evidence_of
from reports.queries.issue_outcomes import RunInfo, false_fails, run_infos, sightings
from reports.queries.names import titles
from reports.queries.scope import scope_of
from reports.releases.query import ReleasesReport, releases_report
from reports.underperforming.rule import Standing, WorkItem, work_list
from runs.comparison.release_order import newest_first
from runs.models import Run
from runs.models.run_queries import RunQuerySet


@dataclass(frozen=True)
class UnderperformingReport:
    """The issues to work on in a release.

    Attributes:
        release: "" where no run has one: the newest run of each model then counts.
        runs: Of the release.
        items: Most urgent first; None while they are computed.
        issues: How many have results.
        titles: By issue.
    """

    release: str
    before: str
    runs: tuple[RunInfo, ...]
    items: Sequence[WorkItem] | None
    issues: int
    titles: Mapping[int, str]
    labels: tuple[str, ...]


def newest_run() -> Run | None:
    """Return the newest conclusive run of the suite that reports open on, else of all."""
    return _newest_of(scope_of(None).runs) or _newest_of(Run.objects.conclusive())


def _newest_of(runs: RunQuerySet) -> Run | None:
    newest = newest_first(runs)
    return Run.objects.select_related("suite").get(pk=newest[0].run) if newest else None


def underperforming(reading: Reading, release: str = "") -> UnderperformingReport:
    """Rank the issues of a release, by default the newest; a constant number of queries."""
    found = releases_report(reading, release=release)
    newest = {line.run.pk for line in found.lines}
    runs = [
        run
        for run in run_infos()
        if (run.release == found.release if found.release else run.pk in newest)
    ]
    shown = {run.pk for run in runs}
    standings = reading.computed(
        "work-next",
        [state_of_workspace(), found.release, sorted(shown)],
        list[Standing],
        lambda: _standings(found, runs, reading),
        of=shown | {line.before.pk for line in found.lines if line.before},
    )
    reports = _reports([one.issue for one in standings or ()])
    items = None if standings is None else work_list(standings, reports)
    return UnderperformingReport(
        release=found.release,
        before=found.before,
        runs=tuple(runs),
        items=items,
        issues=len(standings or ()),
        titles=titles([item.standing.issue for item in items or ()]),
        labels=found.labels,
    )


def _standings(found: ReleasesReport, runs: Sequence[RunInfo], reading: Reading) -> list[Standing]:
    """Tell of each issue how it stands in the release; an issue without a result is left out."""
    severities = dict(Issue.objects.order_by("pk").values_list("pk", "severity"))
    seen = sightings(list(severities), runs, false_fails(runs, reading)).by_issue
    pairs = [
        (line.before.pk, line.run.pk) for line in found.lines if line.before and line.is_joined
    ]
    lost = {one.issue: one for one in lost_in_all(pairs).found} if pairs else {}
    return [
        Standing(issue, severities[issue], evidence_of(results), lost.get(issue))
        for issue, results in seen.items()
        if results
    ]


def _reports(issues: Sequence[int]) -> dict[int, int]:
    rows = Feedback.objects.filter(IdIn("issue_id", issues)).order_by()
    return dict(rows.values_list("issue_id").annotate(n=Count("pk")))
