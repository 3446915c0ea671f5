"""Runs as they look when they were answered and judged, without asking any model."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from evalhub.models import BatchState, ItemState
from issues.models import Test
from runs.models import Answer, JudgeRun, Judgment, JudgmentState, Result, ResultScore, Run
from runs.scoring.agreement import statistics_of
from runs.scoring.coverage_rule import Bounds
from runs.scoring.score import score_result_scores
from tests.factories import make_run, make_tests, shared_jury

Votes = Sequence[float | None]
"""One value for each judge of the jury; None: its verdict failed."""


def current(run: Run) -> JudgeRun:
    return run.judge_runs.get(is_active=True)


def answer(run: Run, text: str = "An answer.", **fields: Any) -> list[Result]:
    """Every pending result of the run is answered."""
    results = list(run.results.filter(state=ItemState.PENDING).order_by("pk"))
    Answer.objects.bulk_create([Answer(result=result, text=text) for result in results])
    run.results.filter(pk__in=[r.pk for r in results]).update(state=ItemState.DONE, **fields)
    return list(run.results.order_by("pk"))


@transaction.atomic
def judge(
    run: Run,
    votes: Sequence[Votes],
    *,
    failure: str = "unreadable",
    judge_run: JudgeRun | None = None,
) -> None:
    """Give the run's results, by primary key, these votes in a judge run, by default the active."""
    judge_run = judge_run or current(run)
    judges = [one["judge"] for one in judge_run.jury["judges"]]
    criteria = criteria_of(run)
    results = run.results.select_related("revision").order_by("pk")[: len(votes)]
    rows = [
        Judgment(
            judge_run=judge_run,
            result=result,
            criterion_id=criteria[result.revision_id],
            judge_id=judge_id,
            value=value,
            state=JudgmentState.FAILED if value is None else JudgmentState.OK,
            failure=failure if value is None else "",
            created_at=timezone.now(),
        )
        for result, given in zip(results, votes, strict=True)
        for judge_id, value in zip(judges, given, strict=True)
    ]
    Judgment.objects.bulk_create(rows)
    done = ResultScore.objects.filter(
        judge_run=judge_run, result__in=[row.result_id for row in rows]
    )
    done.update(state=ItemState.DONE)
    score_result_scores(ResultScore.objects.filter(judge_run=judge_run, state=ItemState.DONE))


def criteria_of(run: Run) -> dict[int, int]:
    """The criterion that stands for the whole test, by revision."""
    pairs = run.results.values_list("revision_id", "revision__criteria")
    return dict(pairs)


def judged(
    *votes: Votes, tests: Sequence[Test] | None = None, done: bool = True, **fields: Any
) -> Run:
    """A run in which each test got these votes, by the shared jury of as many judges."""
    tests = tests or make_tests(len(votes))
    run = make_run(*tests, **{"jury": shared_jury(len(votes[0])), **fields})
    answer(run)
    judge(run, votes)
    if done:
        finish(run)
    run.refresh_from_db()
    return run


def fail(run: Run, result: Result, kind: str = "timed_out") -> None:
    """The result's candidate gave no answer."""
    bounds = Bounds()._asdict()
    Result.objects.filter(pk=result.pk).update(state=ItemState.ERROR, error_kind=kind, **bounds)


def finish(run: Run) -> None:
    """Run and judgings are done, and the sums of agreement are kept."""
    run.judge_runs.update(state=BatchState.DONE)
    for judge_run in run.judge_runs.all():
        JudgeRun.objects.filter(pk=judge_run.pk).update(statistics=statistics_of(judge_run.pk))
    Run.objects.filter(pk=run.pk).update(state=BatchState.DONE, finished_at=timezone.now())
