"""Control of a run: pause, cancel, resume, retry errors, re-judge, set a judge run as active.

Only missing calls are made; saved results are never requested again.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from evalhub.models import BatchState, ItemState, User
from evalhub.refusals import NotPossible
from evalhub.work import progress
from evalhub.work.processes.queue import request_worker
from issues.models import FrozenCriterion
from issues.rubrics.scoring import WHOLE_TEST
from runs.comparison.provenance import parts_of
from runs.comparison.scoring_versions import SENT_TO_JUDGE, conflicts, judged_earlier
from runs.figures.run_tallies import mark_changed
from runs.judging.activation import SLICE, set_active
from runs.judging.jury import judges_in, repair_endpoints_of, repair_models_of, snapshot
from runs.judging.tasks import RETRY
from runs.judging.work import RUN_ENDED
from runs.launching.exposure import SealedExposure, exposure_of_judge_run, refusal
from runs.launching.launch import add_judge_run, add_judge_run_of, fingerprints_of, own_templates
from runs.launching.launch_selection import inactive_judges, without_prompt
from runs.models import (
    NO_ANSWER,
    RETRYABLE,
    Answer,
    Judge,
    JudgeRun,
    Judgment,
    Jury,
    Result,
    ResultScore,
    Run,
)
from runs.scoring.score import rescore

T = TypeVar("T")

UNCOMPARED = Q(state=ItemState.DONE, result__similarity=None) & ~Q(
    result__revision__content__reference=""
)
"""Result scores whose similarity could not be measured."""

STOPPED = [BatchState.PAUSED, BatchState.CANCELLED, BatchState.FAILED]


@progress.act
def pause_run(run: Run) -> None:
    """Start no more calls for its answers and judge runs. Those in flight are saved.

    Raises:
        NotPossible: Nothing of it is running.
    """
    live = _parts(run, [BatchState.LIVE])
    _need(run, live, "paused")
    for batch in live:
        progress.pause(batch, reason="Paused by a user.")


@progress.act
def cancel_run(run: Run) -> None:
    """Stop at once. Saved results stay; the rest is marked as cancelled.

    Raises:
        NotPossible: All of it has ended.
    """
    unfinished = _parts(run, [BatchState.LIVE, BatchState.PAUSED, BatchState.FAILED])
    _need(run, unfinished, "cancelled")
    for batch in unfinished:
        progress.cancel(batch, _items(batch), reason="Cancelled by a user.")


@progress.act
def resume_run(run: Run) -> None:
    """Continue with the missing calls.

    Raises:
        NotPossible: Nothing of it is stopped.
    """
    stopped = _parts(run, STOPPED)
    _need(run, stopped, "resumed")
    for batch in stopped:
        if isinstance(batch, JudgeRun):
            parts = parts_of(Judgment.objects.filter(judge_run=batch, value__isnull=False))
            JudgeRun.objects.filter(pk=batch.pk).update(provenance_parts=parts)
        progress.resume(batch, _items(batch))


def retryable_of(runs: Collection[Run]) -> dict[int, int]:
    """Return how many results of each run `retry_errors` would retry, by its id; two queries.

    Unmeasured similarity is not counted: most of it cannot be measured.
    """
    failed = Result.objects.filter(run__in=runs, state=ItemState.ERROR).order_by()
    doubtful = ResultScore.objects.filter(
        RETRYABLE, judge_run__run__in=runs, judge_run__is_active=True
    )
    errors, doubts = (
        Counter(dict(rows.values_list(run).annotate(n=Count("pk"))))
        for rows, run in ((failed, "run_id"), (doubtful.order_by(), "judge_run__run_id"))
    )
    return {run.pk: retryable(run, errors[run.pk], doubts[run.pk]) for run in runs}


def retryable(run: Run, errors: int, doubtful: int) -> int:
    """Return how many of so many errors and scores in doubt `retry_errors` would retry.

    Nobody asks for imported answers, or judges those whose texts were removed.
    """
    return (0 if run.has_imported_answers else errors) + (0 if run.texts_removed_at else doubtful)


@progress.act
def retry_errors(run: Run) -> int:
    """Retry failed answers, and failed judgments of the active judge run.

    Errors of imported answers stay: no model gave them here. Every judge run waits for the retried
    answers. Return the number of results retried.

    Raises:
        NotPossible: There is no error to retry.
    """
    answered_again = 0 if run.has_imported_answers else progress.retry_errors(run, _items(run))
    judged_again = 0
    for judge_run in run.judge_runs.order_by("pk"):
        progress.lock(judge_run)
        lacking = _items(judge_run).filter(state=ItemState.ERROR, error_kind=NO_ANSWER)
        waits = lacking.filter(result__state=ItemState.PENDING).update(
            state=ItemState.PENDING, error_kind="", error_message=""
        )
        if waits or (answered_again and judge_run.reason == RUN_ENDED):
            progress.reopen(judge_run)
        if judge_run.is_active:
            judged_again += _retry_judge_run(judge_run)
    mark_changed([run.pk])
    if not answered_again + judged_again:
        raise NotPossible(f"{run} has no errors to retry.")
    return answered_again + judged_again


def _retry_judge_run(judge_run: JudgeRun) -> int:
    """Reopen result scores with an error, a failed judgment or a missing similarity."""
    items = _items(judge_run)
    items = items.filter(result__answer__removed_at=None)
    failed = RETRYABLE
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
        rescore([result_id for _, result_id in some])
    if again:
        progress.reopen(judge_run)
    return len(again)


def rejudge(
    run: Run, jury: Jury | None, *, by: User | None, allow_sealed_exposure: bool = False
) -> JudgeRun:
    """Judge the same answers again. The judge run sets no scores until it is set as active.

    Args:
        jury: None for the judges of the last judge run, as they are now.
        allow_sealed_exposure: Send sealed tests outside the trusted network.

    Raises:
        NotPossible: These judges cannot judge the run; the message says why.
    """
    with transaction.atomic():
        progress.lock(run)
        judges, backup = _judges(run, jury), _backup(run, jury)
        name = str(jury) if jury else run.judge_runs.latest("number").jury_name
        _check(run, judges, backup, _snapshot(run, jury), allow_sealed_exposure)
        judge_run = add_judge_run(run, judges, name=name, active=False, backup=backup, by=by)
        request_worker()
    return judge_run


def rejudge_like(
    run: Run, like: Run, *, by: User | None, allow_sealed_exposure: bool = False
) -> JudgeRun:
    """Judge the answers again with the jury of another run, so that both can be compared.

    The judge run becomes active as soon as it is done. If the run has one of this jury already,
    no call is made twice: that one becomes active.

    Raises:
        NotPossible: These judges cannot judge the run; the message says why.
    """
    with transaction.atomic():
        progress.lock(run)
        jury = jury_like(run, like)
        if judge_run := judged_like(run, like, jury):
            if judge_run.state == BatchState.DONE:
                set_active(judge_run)
            else:
                JudgeRun.objects.filter(pk=judge_run.pk).update(becomes_active=True)
            judge_run.refresh_from_db()
            return judge_run
        rows = Judge.objects.select_related("language_model", "template")
        judges = list(rows.filter(pk__in=[judge["judge"] for judge in jury["judges"]]))
        backup = rows.get(pk=jury["backup"]["judge"]) if jury["backup"] else None
        _check(run, judges, backup, jury, allow_sealed_exposure)
        judge_run = add_judge_run_of(run, jury, by=by, becomes_active=True)
        request_worker()
    return judge_run


def run_checks(run: Run, *, by: User | None) -> JudgeRun:
    """Run the checks on the same answers again, beside the judgments of the active judge run.

    No call is made. The judge run sets no scores until it is set as active.

    Raises:
        NotPossible: The run has no checks or is not judged; the message says why.
    """
    with transaction.atomic():
        progress.lock(run)
        active = run.judge_runs.filter(is_active=True).first()
        if not has_checks(run):
            raise NotPossible(f"{run} has no checks to run.")
        if active is None or active.state != BatchState.DONE:
            raise NotPossible(f"The active judge run of {run} is not done: wait, or resume it.")
        if problems := removed_answers(run):
            raise NotPossible(" ".join(problems))
        judge_run = add_judge_run_of(run, active.jury, by=by, judgments_from=active)
        # What judges failed on as a whole stays so: only a retry asks them.
        failed = active.result_scores.filter(result=OuterRef("result"), state=ItemState.ERROR)
        judge_run.result_scores.filter(Exists(failed), state=ItemState.PENDING).update(
            state=ItemState.ERROR,
            error_kind=Subquery(failed.values("error_kind")[:1]),
            error_message=Subquery(failed.values("error_message")[:1]),
        )
        request_worker()
    return judge_run


def has_checks(run: Run) -> bool:
    criteria = FrozenCriterion.objects.filter(revision__results__run=run)
    return criteria.exclude(check_name="").exists()


def jury_like(run: Run, like: Run) -> dict[str, Any]:
    """Return the jury of another run as it was frozen, for the tests of this run.

    Raises:
        NotPossible: The other run has no judges.
    """
    active = like.judge_runs.filter(is_active=True).first()
    if active is None or not active.jury["judges"]:
        raise NotPossible(f"{like} has no jury: re-judge it first, or choose another run.")
    judges = judges_in(active.jury)
    own = {judge[name] for judge in judges for name in ("template", "rubric_template")} - {None}
    repair_models = repair_endpoints_of({*own_templates(run), *own})
    jury = {name: active.jury[name] for name in ("name", "judges", "backup")}
    if repair_models:
        jury["repair_models"] = {str(pk): e.to_json() for pk, e in repair_models.items()}
    return jury


def judged_like(run: Run, like: Run, jury: dict[str, Any]) -> JudgeRun | None:
    """Return the newest judge run by the judges of another run that is done or will be, if any.

    One that an earlier version of EvalHub made is none: its judges would be asked otherwise now.
    Nor is one whose judges were sent other parameters than those of the other run.

    Args:
        jury: `jury_like` of the two.
    """
    (wanted,) = like.judge_runs.filter(is_active=True).values_list("provenance_parts", flat=True)
    whole, rubric = fingerprints_of(run, jury)
    states = (BatchState.DONE, BatchState.LIVE, BatchState.PAUSED)
    same = run.judge_runs.filter(whole_fingerprint=whole, rubric_fingerprint=rubric)
    found = same.filter(state__in=states).order_by("-number")
    return next(
        (
            one
            for one in found
            if not judged_earlier(one.provenance_parts)
            and not any(
                name.startswith(SENT_TO_JUDGE) for name in conflicts(one.provenance_parts, wanted)
            )
        ),
        None,
    )


def sealed_exposure_of_judge_run(run: Run, jury: Jury | None) -> SealedExposure | None:
    """Return the exposure of sealed tests that re-judging would cause, if any."""
    return exposure_of_judge_run(run, _snapshot(run, jury))


def _snapshot(run: Run, jury: Jury | None) -> dict[str, Any]:
    judges, backup = _judges(run, jury), _backup(run, jury)
    return snapshot(judges, backup, name="", templates=own_templates(run))


def _check(
    run: Run,
    judges: Sequence[Judge],
    backup: Judge | None,
    jury: dict[str, Any],
    allow_sealed_exposure: bool,
) -> None:
    """Raise NotPossible with all problems of judging the run by these judges."""
    sealed = refusal(exposure_of_judge_run(run, jury), is_allowed=allow_sealed_exposure)
    if problems := [*_problems(run, judges, backup), *sealed]:
        raise NotPossible(" ".join(problems))


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
    """Return the problems that keep these judges from judging the run."""
    if not judges:
        return ["This jury has no judges: choose another one."]
    everyone = [*judges, backup] if backup else judges
    problems = [*inactive_judges(everyone), *removed_answers(run)]
    models = {judge.language_model for judge in everyone}
    models |= repair_models_of(judges, backup, own_templates(run))
    addresses = {(model.litellm_model, model.api_base) for model in models}
    candidate = run.candidate()
    if (
        candidate.litellm_model,
        candidate.api_base,
    ) in addresses and not run.self_evaluation_allowed:
        problems.append(f"{run.model_name} would judge its own answers: choose another jury.")
    unpriced = sorted(str(model) for model in models if not model.has_prices)
    if run.cost_limit_usd is not None and unpriced:
        problems.append(f"A cost limit needs prices: add those of {', '.join(unpriced)}.")
    without = run.results.filter(revision__template=None)
    bare = without.exclude(revision__criteria__key__gt=WHOLE_TEST).count()
    if bare and without_prompt(judges) and not run.score_by_similarity:
        problems.append(f"{bare} results belong to tests without a judge template or a rubric.")
    return problems


def removed_answers(run: Run) -> list[str]:
    """Return why the run cannot be judged; [] if all its answers are kept."""
    removed = Answer.objects.filter(result__run=run, removed_at__isnull=False)
    if not (number := removed.count()):
        return []
    texts = f"The texts of {number} of its answers were removed"
    return [f"{texts} after the time for which they are kept: launch it again instead."]


def _sliced(rows: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(rows), SLICE):
        yield rows[start : start + SLICE]


def _parts(run: Run, states: list[BatchState]) -> list[Run | JudgeRun]:
    """Return the run and its judge runs that are in one of these states, locked."""
    progress.lock(run)
    run.refresh_from_db(fields=["state"])
    for judge_run in run.judge_runs.order_by("pk"):
        progress.lock(judge_run)
    judge_runs = list(run.judge_runs.filter(state__in=states))
    return [run, *judge_runs] if run.state in states else [*judge_runs]


def _items(batch: Run | JudgeRun) -> QuerySet[Any]:
    """Return the results of a run, or the result scores of a judge run."""
    if isinstance(batch, Run):
        return Result.objects.filter(run=batch)
    return ResultScore.objects.filter(judge_run=batch)


def _need(run: Run, parts: list[Run | JudgeRun], what: str) -> None:
    if not parts:
        raise NotPossible(
            f"{run} is {run.get_state_display()}, and so are its judge runs: it cannot be {what}."
        )
