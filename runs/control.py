"""What a person may do to a run: pause, cancel, resume, retry errors, judge again.

Each does exactly the missing calls: what was saved is never asked again.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from evalhub.models import BatchState, ItemState, User
from evalhub.work import progress
from evalhub.work.queue import request_worker
from issues.rubrics.scoring import WHOLE_TEST
from runs.judging.jury import repair_models_of
from runs.judging.tasks import RETRY
from runs.judging.work import CHECK_ERROR
from runs.launching.exposure import SealedExposure, exposure_of_judge_run, refusal
from runs.launching.launch import add_judge_run, own_templates
from runs.launching.selection import without_prompt
from runs.models import (
    DOUBTFUL,
    NO_ANSWER,
    Judge,
    JudgeRun,
    Judgment,
    Jury,
    Result,
    ResultScore,
    Run,
)
from runs.scoring.score import score_results

T = TypeVar("T")

UNCOMPARED = Q(state=ItemState.DONE, result__similarity=None) & ~Q(
    result__revision__content__reference=""
)
"""Assessments whose similarity to the reference answer could not be had."""

BROKEN = Exists(
    Judgment.objects.filter(
        judge_run=OuterRef("judge_run"), result=OuterRef("result"), judge=None, failure=CHECK_ERROR
    )
)
"""Assessments in which a check gave no value, though it can run."""

STOPPED = [BatchState.PAUSED, BatchState.CANCELLED, BatchState.FAILED]
SLICE = 1000
"""Results that are scored again in one statement."""


def results_of(run: Run) -> QuerySet[Result]:
    return Result.objects.filter(run=run)


def result_scores_of(judge_run: JudgeRun) -> QuerySet[ResultScore]:
    return ResultScore.objects.filter(judge_run=judge_run)


@transaction.atomic
def pause_run(run: Run) -> None:
    """Start no more calls for its answers and its judgings. Those in flight are saved.

    Raises:
        NotPossible: Nothing of it is running.
    """
    live = _parts(run, [BatchState.LIVE])
    _need(run, live, "paused")
    for batch in live:
        progress.pause(batch, reason="Paused by a person.")


@transaction.atomic
def cancel_run(run: Run) -> None:
    """Stop at once. What was saved stays; the rest is marked as cancelled.

    Raises:
        NotPossible: All of it has ended.
    """
    unfinished = _parts(run, [BatchState.LIVE, BatchState.PAUSED, BatchState.FAILED])
    _need(run, unfinished, "cancelled")
    for batch in unfinished:
        progress.cancel(batch, _items(batch), reason="Cancelled by a person.")


@transaction.atomic
def resume_run(run: Run) -> None:
    """Go on with what was not done.

    Raises:
        NotPossible: Nothing of it stands still.
    """
    stopped = _parts(run, STOPPED)
    _need(run, stopped, "resumed")
    for batch in stopped:
        progress.resume(batch, _items(batch))


@transaction.atomic
def retry_errors(run: Run) -> int:
    """Ask again for answers that failed, and for failed judgments of the current judging.

    Every judging waits again for the answers that are asked for again.

    Returns:
        How many results are asked or judged again.

    Raises:
        NotPossible: There is no error to retry.
    """
    answered_again = progress.retry_errors(run, results_of(run))
    judged_again = 0
    for judge_run in run.judge_runs.order_by("pk"):
        progress.lock(judge_run)
        if _wait_for_answers(judge_run):
            progress.reopen(judge_run)
        if judge_run.is_active:
            judged_again += _retry_judge_run(judge_run)
    if not answered_again + judged_again:
        raise progress.NotPossible(f"{run} has no errors to retry.")
    return answered_again + judged_again


def _wait_for_answers(judge_run: JudgeRun) -> int:
    """Reopen assessments that had nothing to judge, where an answer is asked for again."""
    waiting = result_scores_of(judge_run).filter(state=ItemState.ERROR, error_kind=NO_ANSWER)
    return waiting.filter(result__state=ItemState.PENDING).update(
        state=ItemState.PENDING, error_kind="", error_message=""
    )


def _retry_judge_run(judge_run: JudgeRun) -> int:
    """Reopen assessments that ended in an error, or of which a judgment or a similarity failed."""
    items = result_scores_of(judge_run)
    failed = DOUBTFUL | Q(BROKEN, state=ItemState.DONE)
    if judge_run.run.wants_similarity:
        failed |= UNCOMPARED
    now = timezone.now().isoformat()
    again = list(items.filter(failed).values_list("pk", "result_id"))
    for some in _sliced(again):
        items.filter(pk__in=[pk for pk, _ in some]).update(
            state=ItemState.PENDING,
            attempts=0,
            error_kind=RETRY,
            error_message=now,
            next_try_at=None,
        )
        score_results([result_id for _, result_id in some])
    if again:
        progress.reopen(judge_run)
    return len(again)


def rejudge(
    run: Run, jury: Jury | None, *, by: User | None, allow_sealed_exposure: bool = False
) -> JudgeRun:
    """Another judging of the same answers, by the same jury or another one.

    It stands beside the current one until a person makes it current.

    Args:
        jury: None: the judges of the run's last judging, as they are now.
        sealed_may_leave: Whether sealed tests may be sent outside the trusted network.

    Raises:
        NotPossible: These judges cannot judge it; the message says why.
    """
    with transaction.atomic():
        progress.lock(run)
        judges, backup = _judges(run, jury), _backup(run, jury)
        sealed = refusal(
            exposure_of_judge_run(run, judges, backup), is_allowed=allow_sealed_exposure
        )
        if problems := [*_problems(run, judges, backup), *sealed]:
            raise progress.NotPossible(" ".join(problems))
        name = str(jury) if jury else run.judge_runs.latest("number").jury_name
        judge_run = add_judge_run(run, judges, name=name, active=False, backup=backup, by=by)
        request_worker()
    return judge_run


def sealed_exposure_of_judge_run(run: Run, jury: Jury | None) -> SealedExposure | None:
    """The sealed tests that judging it again sends outside the trusted network, and to whom."""
    return exposure_of_judge_run(run, _judges(run, jury), _backup(run, jury))


def _judges(run: Run, jury: Jury | None) -> Sequence[Judge]:
    chosen = Judge.objects.select_related("language_model", "template")
    if jury:
        return list(chosen.filter(juries=jury))
    last = run.judge_runs.latest("number").jury["judges"]
    return list(chosen.filter(pk__in=[judge["judge"] for judge in last]))


def _backup(run: Run, jury: Jury | None) -> Judge | None:
    if jury:
        return jury.backup
    last = run.judge_runs.latest("number").jury.get("backup")
    return Judge.objects.filter(pk=last["judge"]).first() if last else None


def _problems(run: Run, judges: Sequence[Judge], backup: Judge | None) -> list[str]:
    """Why these judges cannot judge the run, in words; what a launch would say of them."""
    if not judges:
        return ["There is no judge in this jury: choose another one."]
    models = {judge.language_model for judge in (*judges, *([backup] if backup else []))}
    idle = sorted(str(model) for model in models if not model.is_active)
    problems = [f"These judges' models are inactive: {', '.join(idle)}."] if idle else []
    models |= repair_models_of(judges, backup, own_templates(run))
    asked = {(model.litellm_model, model.api_base) for model in models}
    candidate = run.candidate()
    if (candidate.litellm_model, candidate.api_base) in asked and not run.self_evaluation_allowed:
        problems.append(f"{run.model_name} would judge its own answers: choose another jury.")
    unpriced = sorted(str(model) for model in models if not model.has_prices)
    if run.cost_limit_usd is not None and unpriced:
        problems.append(f"A cost limit needs prices: enter those of {', '.join(unpriced)}.")
    without = run.results.filter(revision__template=None)
    bare = without.exclude(revision__criteria__key__gt=WHOLE_TEST).count()
    if bare and without_prompt(judges) and not run.score_by_similarity:
        problems.append(f"{bare} results are of tests without a judge template or a rubric.")
    return problems


@transaction.atomic
def set_active(judge_run: JudgeRun) -> None:
    """Let this judging decide the run's scores from now on; the others stay to be read."""
    progress.lock(judge_run.run)
    others = JudgeRun.objects.filter(run=judge_run.run_id, is_active=True)
    others.update(is_active=False)
    JudgeRun.objects.filter(pk=judge_run.pk).update(is_active=True)
    ids = Result.objects.filter(run=judge_run.run_id).order_by("pk").values_list("pk", flat=True)
    for some in _sliced(list(ids)):
        score_results(some)


def _sliced(rows: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(rows), SLICE):
        yield rows[start : start + SLICE]


def _parts(run: Run, states: list[BatchState]) -> list[Run | JudgeRun]:
    """The run and its judgings, as far as they are in one of these states, locked."""
    progress.lock(run)
    run.refresh_from_db(fields=["state"])
    for judge_run in run.judge_runs.order_by("pk"):
        progress.lock(judge_run)
    judge_runs = list(run.judge_runs.filter(state__in=states))
    return [run, *judge_runs] if run.state in states else [*judge_runs]


def _items(batch: Run | JudgeRun) -> QuerySet[Any]:
    return results_of(batch) if isinstance(batch, Run) else result_scores_of(batch)


def _need(run: Run, parts: list[Run | JudgeRun], what: str) -> None:
    if not parts:
        raise progress.NotPossible(
            f"{run} is {run.get_state_display()}, and so are its judgings: it cannot be {what}."
        )
