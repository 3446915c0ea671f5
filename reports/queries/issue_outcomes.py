"""Outcomes of issues in conclusive runs: the rows of `reports.issue_timeline.rule`."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count
from django.utils import timezone

from reports.issue_timeline.rule import IssueResult
from runs.models import Outcome, Result, Run


class RunInfo(NamedTuple):
    """A conclusive run as reports on issues show it. `release` is "" if it has none."""

    pk: int
    label: str
    model_name: str
    model_id: int
    variant: str
    release: str
    launch: int | None
    at: datetime

    @property
    def name(self) -> str:
        release = f", release {self.release}" if self.release else ""
        return f"{self.label} ({self.model_name}{release})"

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
    "created_at",
)


def run_infos() -> list[RunInfo]:
    """Return all conclusive runs, oldest first; one query."""
    rows = Run.objects.conclusive().order_by("created_at", "pk").values_list(*COLUMNS)
    return [RunInfo._make((*row[:-1], timezone.localtime(row[-1]))) for row in rows]


def sightings(issues: Collection[int], runs: Iterable[RunInfo]) -> Sightings:
    """Count the outcomes of these issues in these runs; one query."""
    briefs = {run.pk: run for run in runs}
    rows = Result.objects.filter(issue__in=issues, run__in=briefs).order_by()
    sums: dict[tuple[int, int], dict[str, int]] = defaultdict(lambda: dict.fromkeys(Outcome, 0))
    counted = rows.values_list("issue_id", "run_id", "outcome").annotate(n=Count("pk"))
    for issue, run, outcome, n in counted:
        sums[issue, run][Outcome(outcome)] += n
    found: dict[int, list[IssueResult]] = {issue: [] for issue in issues}
    for (issue, pk), counts in sums.items():
        run, passed, failed = briefs[pk], counts[Outcome.PASSED], counts[Outcome.FAILED]
        found[issue].append(
            IssueResult(
                run=pk,
                line=run.variant,
                release=run.release,
                together=run.together,
                at=run.at,
                passed=passed,
                failed=failed,
                excluded=sum(counts.values()) - passed - failed,
            )
        )
    return Sightings(briefs, found)
