"""Work of a judge run: call each result's judges, run its checks, save the judgments."""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from evalhub.llm.embeddings import similarity
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.verdicts.judge_replies import ParsedVerdict
from evalhub.models import BatchState, CallRole, ItemState
from evalhub.work.calls.caller import ModelCaller, Saved
from evalhub.work.calls.errors import BatchFailed, GivenBack
from evalhub.work.database import update_locked
from evalhub.work.kinds import Kind, Save
from evalhub.work.limits.budget import Spend
from evalhub.work.spending import cost_of_item
from runs.answering.work import spend_of
from runs.comparison.provenance import parts_of
from runs.comparison.scoring_versions import Parts, of_check, of_verdict
from runs.judging.activation import activate_when_done
from runs.judging.ask_judge import JudgeReply, ask_judge, run_check
from runs.judging.equal_requests import request_key, take_known_verdicts
from runs.judging.jury import frozen_jury_of
from runs.judging.tasks import (
    CheckTask,
    CriterionTask,
    JudgeRequest,
    JudgingTask,
    judging_tasks,
)
from runs.models import JudgeRun, Judgment, Provenance, Result, ResultScore, Run
from runs.scoring.agreement import statistics_of
from runs.scoring.score import score_result_scores, score_results

T = TypeVar("T")

RUN_ENDED = "The run was stopped: no more answers come to be judged. To continue, resume the run."


@dataclass
class Finished:
    """Mark of a result score whose judgments are all saved. `cost_usd` covers all its calls.

    `similarity` is None if it was not measured, or measured before.
    """

    cost_usd: Decimal | None
    similarity: float | None = None


class JudgingKind(Kind[JudgeRun, ResultScore, JudgingTask]):
    """The work of a judge run: its result scores are the items."""

    batch_model, item_model, batch_field = JudgeRun, ResultScore, "judge_run"

    def claimable(self, batch: JudgeRun) -> QuerySet[ResultScore]:
        return self.items_of(batch).filter(result__state=ItemState.DONE)

    def endpoints(self, batch: JudgeRun) -> list[Endpoint]:
        jury = frozen_jury_of(batch.jury, with_templates=False)
        embedder = batch.run.embedder() if batch.run.wants_similarity else None
        return [*jury.fewest_endpoints(), *([embedder] if embedder else [])]

    def spend(self, batch: JudgeRun) -> Spend:
        return spend_of(batch.run)

    def batches(self) -> QuerySet[JudgeRun]:
        return JudgeRun.objects.select_related("run")

    def prepare(self, batch: JudgeRun, item_ids: Sequence[int]) -> list[JudgingTask]:
        return judging_tasks(batch, item_ids)

    def sealed_tests(self, job: JudgingTask) -> list[int]:
        return job.sealed

    async def perform(self, job: JudgingTask, caller: ModelCaller) -> None:
        near: list[float | None] = []
        await take_known_verdicts(job, caller)
        kept = sum(len(task.kept) for task in job.criterion_tasks)
        judged = await all_or_none(
            [
                *(_decide(criterion_task, job, caller) for criterion_task in job.criterion_tasks),
                _compare(job, caller, near),
            ]
        )
        saved = [future for futures in judged for future in futures]
        cost_usd = cost_of_item(job.earlier, caller.calls, saved=kept)
        await caller.save(Finished(cost_usd, *near), after=saved)

    def store(self, saves: list[Save]) -> None:
        # Copies: saving may be done again after it failed, and must not find keys that were undone.
        judgments = [copy(save.content) for save in saves if isinstance(save.content, Judgment)]
        for judgment in judgments:  # perhaps long after the reply, if the database was away
            judgment.created_at = timezone.now()
        Provenance.set_on(judgments)
        repeated = [row for row in judgments if row.pk is not None]
        Judgment.objects.bulk_update(repeated, JUDGMENT_FIELDS)
        Judgment.objects.bulk_create([row for row in judgments if row.pk is None])
        finished = {s.item_id: s.content for s in saves if isinstance(s.content, Finished)}
        if finished:
            _finish(finished)

    def stop_reason(self, batch: JudgeRun) -> str:
        """A stopped run answers no more, until it is resumed and its judge runs with it."""
        if Run.objects.get(pk=batch.run_id).state not in (BatchState.FAILED, BatchState.CANCELLED):
            return ""
        return "" if self.claimable(batch).filter(state=ItemState.PENDING).exists() else RUN_ENDED

    def on_error(self, item_ids: Sequence[int]) -> None:
        ended = ResultScore.objects.filter(pk__in=item_ids)
        score_results(list(ended.values_list("result_id", flat=True)))

    def finish(self, batch: JudgeRun) -> None:
        verdicts = Judgment.objects.filter(judge_run=batch, value__isnull=False)
        JudgeRun.objects.filter(pk=batch.pk).update(
            statistics=statistics_of(batch.pk), provenance_parts=parts_of(verdicts)
        )
        # Afterwards, for it locks the run, which others lock before its judge runs.
        transaction.on_commit(lambda: activate_when_done(batch.pk))


async def all_or_none(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all concurrently. If one raises, let the others end first, then raise.

    Their calls in flight are paid for and worth saving; only cancellation ends them too.
    """
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if errors := [error for task in tasks if (error := task.exception())]:
        raise max(errors, key=_severity)
    return [task.result() for task in tasks]


def _severity(error: BaseException) -> tuple[int, float]:
    """Rank errors: those of the batch above those of the item, above a mere delay."""
    if isinstance(error, GivenBack):
        return 0, error.after_s
    return (2, 0.0) if isinstance(error, BatchFailed) else (1, 0.0)


# Calls -------------------------------------------------------------------------------------------


async def _decide(
    criterion_task: CriterionTask, judging_task: JudgingTask, caller: ModelCaller
) -> list[Saved]:
    """Make all judgments of one criterion; call the backup judge if another failed."""
    if criterion_task.check_task is not None:
        check = criterion_task.check_task
        reply = await run_check(check.name, check.arguments, judging_task.material)
        return [caller.save_later(_judgment(judging_task, check, reply))]
    backup, has_failed = criterion_task.backup, criterion_task.has_failed
    requests = criterion_task.judge_requests
    kept = [caller.save_later(judgment) for judgment in criterion_task.kept]
    judged = await all_or_none(_judge(request, judging_task, caller) for request in requests)
    if backup and (has_failed or any(is_failed for is_failed, _ in judged)):
        judged.append(await _judge(backup, judging_task, caller))
    return [*kept, *(future for _, future in judged)]


async def _compare(
    judging_task: JudgingTask, caller: ModelCaller, near: list[float | None]
) -> list[Saved]:
    """Append the similarity to the reference answer to `near`, if it is wanted."""
    if judging_task.similarity_task is not None:
        answer, reference, endpoint = judging_task.similarity_task
        near.append(await similarity(answer, reference, endpoint=endpoint, caller=caller))
    return []


async def _judge(
    judge_request: JudgeRequest, judging_task: JudgingTask, caller: ModelCaller
) -> tuple[bool, Saved]:
    """Call one judge and save its judgment; return whether it failed."""
    judge, template = judge_request.frozen_judge, judge_request.prompt_template
    about = (judge, template, judging_task.case, judge_request.key)
    reply = await ask_judge(
        *about, caller, repair_model=judge_request.repair_model, first=judge_request.first
    )
    judgment = _judgment(
        judging_task,
        judge_request,
        reply,
        judge_id=judge.judge_id,
        template_id=template.template_id if template else None,
        sample=judge_request.sample,
        is_backup=judge_request.is_backup,
    )
    return reply.verdict is None, caller.save_later(judgment, *reply.calls)


def _judgment(
    judging_task: JudgingTask,
    asked: JudgeRequest | CheckTask,
    reply: JudgeReply[ParsedVerdict],
    **more: Any,
) -> Judgment:
    verdict = reply.verdict
    judgment = Judgment(
        pk=asked.judgment_id,
        judge_run_id=judging_task.judge_run_id,
        result_id=judging_task.result_id,
        criterion_id=asked.criterion_id,
        state=reply.state,
        option=verdict.option if verdict and isinstance(asked, JudgeRequest) else "",
        value=verdict.value if verdict else None,
        justification=verdict.justification if verdict else "",
        failure=reply.failure,
        failure_message=reply.message,
        call=reply.call,
        asked_usd=reply.cost_usd,
        created_at=timezone.now(),
        **more,
    )
    judgment.made_with = _made_with(asked, reply)
    if isinstance(asked, JudgeRequest) and verdict and not asked.is_backup:
        judgment.request_key = request_key(asked)
    return judgment


def _made_with(asked: JudgeRequest | CheckTask, reply: JudgeReply[ParsedVerdict]) -> Parts:
    if isinstance(asked, CheckTask):
        return of_check()
    judge, call = asked.frozen_judge, reply.call
    # What a repair model was sent says nothing of the judge.
    sent = call.sent_params if call and call.role == CallRole.JUDGE else None
    return of_verdict(judge.asked, sent, call and call.refused_params)


# Saving ------------------------------------------------------------------------------------------

FINISHED_FIELDS = ["state", "worker", "next_try_at", "error_kind", "error_message", "cost_usd"]
JUDGMENT_FIELDS = [
    *("state", "option", "value", "justification", "template"),
    *("failure", "failure_message", "call", "provenance", "request_key", "taken_from"),
    *("asked_usd", "created_at"),
]


def _finish(finished: dict[int, Finished]) -> None:
    result_scores = list(ResultScore.objects.filter(pk__in=finished))
    similarities = {row.result_id: finished[row.pk].similarity for row in result_scores}
    measured = [pk for pk, value in similarities.items() if value is not None]
    results = list(Result.objects.filter(pk__in=measured).order_by("pk"))
    for result in results:
        result.similarity = similarities[result.pk]
    update_locked(results, ["similarity"])
    for row in result_scores:
        row.state, row.worker, row.next_try_at = ItemState.DONE, None, None
        row.error_kind = row.error_message = ""
        row.cost_usd = finished[row.pk].cost_usd
    score_result_scores(result_scores, also=FINISHED_FIELDS)
