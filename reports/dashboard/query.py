"""The figures of the dashboard: open tasks, work in progress, worst issues."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Count, Model

from evalhub.models import BatchState, LanguageModel
from evalhub.work.leases import workers_alive
from issues.models import Feedback, FeedbackState, Issue, IssueState, Test, TestState
from reports.documents.rate_cells import issue_rate
from reports.documents.reading import Reading
from reports.queries.rate_lines import Line, worst_first
from reports.runs.query import RunLine, run_lines
from runs.figures.tallies import grouped, tallies_of
from runs.models import JudgeRun, Result, Run
from runs.review.models import Assignment, AssignmentState, QueueState

LATEST, WORST = 6, 6


@dataclass(frozen=True)
class Dashboard:
    """The figures of the dashboard.

    Attributes:
        issues: How many there are in each state.
        feedback: New feedback to triage.
        reviews: Reviews missing in open queues.
        tests: How many there are, and how many of them may run.
        models: Active language models.
        latest: The newest runs.
        disputed: Disputed results of these runs, by run.
        workers: Active worker processes.
        live: Runs and judge runs in progress or waiting for a worker.
    """

    issues: dict[str, int]
    feedback: int
    reviews: int
    tests: int
    approved_tests: int
    tests_in_review: int
    models: int
    latest: tuple[RunLine, ...]
    disputed: dict[int, int]
    workers: int
    live: int

    @property
    def worst_of(self) -> Run | None:
        """The newest run with a failed result; None where the latest have none."""
        return next((line.run for line in self.latest if line.counts.failed), None)

    @cached_property
    def worst(self) -> tuple[Line, ...]:
        """The worst issues of that run, read only where they are shown; two queries."""
        run = self.worst_of
        if run is None:
            return ()
        tallies = tallies_of(Result.objects.filter(run=run), by_issue=True)
        groups = grouped(tallies, lambda tally: [tally.issue_id])
        titles = Issue.objects.filter(pk__in=groups).order_by().values_list("pk", "title")
        lines = []
        for issue, title in titles:
            counts = groups[issue].counts
            answers, total = run.repeats, counts.total
            rate = issue_rate(counts.passed, counts.scored, answers=answers, total=total)
            lines.append(Line(title, issue, counts, rate))
        failed = [line for line in lines if line.counts.failed]
        return tuple(sorted(failed, key=worst_first)[:WORST])

    @property
    def is_new(self) -> bool:
        """No run exists yet."""
        return not self.latest

    @property
    def is_stuck(self) -> bool:
        """Work is waiting, but no worker is active."""
        return bool(self.live) and not self.workers


def dashboard_of(reading: Reading | None = None) -> Dashboard:
    """Return the figures of the dashboard, in a constant number of queries."""
    newest = Run.objects.select_related("launch").order_by("-pk")[:LATEST]
    latest = run_lines(newest)
    runs = [line.run.pk for line in latest]
    disputed = Result.objects.filter(run__in=runs, is_disputed=True).order_by()
    reviews = Assignment.objects.filter(queue__state=QueueState.OPEN)
    tests = _by_state(Test, TestState.values)
    return Dashboard(
        issues=_by_state(Issue, IssueState.values),
        feedback=Feedback.objects.filter(state=FeedbackState.NEW).count(),
        reviews=reviews.exclude(state=AssignmentState.SUBMITTED).count(),
        tests=sum(tests.values()),
        approved_tests=tests[TestState.APPROVED],
        tests_in_review=tests[TestState.IN_REVIEW],
        models=LanguageModel.objects.active().count(),
        latest=latest,
        disputed=dict(disputed.values_list("run_id").annotate(Count("pk"))),
        workers=workers_alive(),
        live=sum(batch.objects.filter(state=BatchState.LIVE).count() for batch in (Run, JudgeRun)),
    )


def _by_state(model: type[Model], states: Iterable[str]) -> dict[str, int]:
    rows = model._default_manager.order_by().values_list("state").annotate(Count("pk"))
    found = dict(rows)
    return {state: found.get(state, 0) for state in states}
