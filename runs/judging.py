"""Judging: each result's judges are asked, its checks run, and what they say becomes judgments."""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeVar

from django.db.models import QuerySet
from django.utils import timezone

from evalhub.llm.embeddings import similarity
from evalhub.llm.endpoint import Endpoint
from evalhub.models import Call, ItemState
from evalhub.work.desk import BatchFailed, Desk
from evalhub.work.gate import GivenBack
from evalhub.work.kinds import Kind, Purse, Save
from evalhub.work.rows import overwrite
from evalhub.work.saver import LeaseLost
from issues import checks
from issues.checks import CHECKS
from runs.agreement import statistics_of
from runs.answering import purse_of
from runs.hearing import Checking, Cost, Hearing, Matter, Question, hearings
from runs.models import Assessment, Judgment, JudgmentState, Result
from runs.models import Judging as JudgingRow
from runs.questioning import Heard, hear
from runs.scoring import score_assessments, score_results
from runs.seats import least_asked

T = TypeVar("T")
Saved = asyncio.Future[bool]

CHECK_ERROR, CANNOT_RUN = "check_error", "cannot_run"


@dataclass
class Finding:
    """A judgment as it is to be saved, with the calls that are to be saved with it."""

    judgment: Judgment
    calls: list[Call] = field(default_factory=list)


@dataclass
class Finished:
    """All judgments of an assessment are saved. `cost_usd` is that of all its calls.

    `similarity` None: not measured, or it was before.
    """

    cost_usd: Decimal | None
    similarity: float | None = None


class Judging(Kind):
    """The work of a judging: its assessments are the items."""

    batch_model, item_model = JudgingRow, Assessment

    def claimable(self, batch: JudgingRow) -> QuerySet[Assessment]:
        return Assessment.objects.filter(judging=batch, result__state=ItemState.DONE)

    def remaining(self, batch: JudgingRow) -> QuerySet[Assessment]:
        return Assessment.objects.filter(judging=batch, state=ItemState.PENDING)

    def endpoints(self, batch: JudgingRow) -> list[Endpoint]:
        embedder = batch.run.embedder() if batch.run.wants_similarity else None
        return [*least_asked(batch), *([embedder] if embedder else [])]

    def purse(self, batch: JudgingRow) -> Purse:
        return purse_of(batch.run)

    def batches(self) -> QuerySet[JudgingRow]:
        return JudgingRow.objects.select_related("run")

    def prepare(self, batch: JudgingRow, item_ids: Sequence[int]) -> list[Hearing]:
        return hearings(batch, item_ids)

    def sealed_tests(self, job: Hearing) -> list[int]:
        return job.sealed

    async def perform(self, job: Hearing, desk: Desk) -> None:
        near: list[float | None] = []
        saved = await all_or_none(
            [*(_decide(matter, job, desk) for matter in job.matters), _compare(job, desk, near)]
        )
        if not all([await future for futures in saved for future in futures]):
            raise LeaseLost
        costs = [Cost(call.cost_usd, bool(call.error_kind)) for call in desk.calls]
        await desk.save(Finished(total_cost([*job.earlier, *costs]), *near))

    def store(self, saves: list[Save]) -> None:
        _store_judgments([save for save in saves if isinstance(save.content, Finding)])
        finished = {s.item_id: s.content for s in saves if isinstance(s.content, Finished)}
        if finished:
            _finish(finished)

    def on_error(self, item_ids: Sequence[int]) -> None:
        ended = Assessment.objects.filter(pk__in=item_ids)
        score_results(list(ended.values_list("result_id", flat=True)))

    def finish(self, batch: JudgingRow) -> None:
        JudgingRow.objects.filter(pk=batch.pk).update(statistics=statistics_of(batch.pk))


async def all_or_none(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all at once. Where one raises, the error goes on when the others have ended.

    What they have in flight is paid for and worth saving; only being cancelled ends them too.
    """
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if errors := [error for task in tasks if (error := task.exception())]:
        raise max(errors, key=_gravity)
    return [task.result() for task in tasks]


def _gravity(error: BaseException) -> tuple[int, float]:
    """What ends the batch outranks what ends the item, and that what only puts it off."""
    if isinstance(error, GivenBack):
        return 0, error.after_s
    return (2, 0.0) if isinstance(error, BatchFailed) else (1, 0.0)


# Asking ------------------------------------------------------------------------------------------


async def _decide(matter: Matter, hearing: Hearing, desk: Desk) -> list[Saved]:
    """All judgments of one criterion; the backup judge is asked where one of the others failed."""
    if matter.checking is not None:
        return [desk.save_later(await _check(matter.checking, hearing))]
    heard = await all_or_none(_judge(question, hearing, desk) for question in matter.questions)
    saved = [future for _, future in heard]
    if matter.backup and (matter.has_failed or any(is_failed for is_failed, _ in heard)):
        saved.append((await _judge(matter.backup, hearing, desk))[1])
    return saved


async def _compare(hearing: Hearing, desk: Desk, near: list[float | None]) -> list[Saved]:
    """Measure the similarity to the reference answer, where it is asked for, into `near`."""
    if hearing.comparison is not None:
        answer, reference, endpoint = hearing.comparison
        near.append(await similarity(answer, reference, endpoint=endpoint, desk=desk))
    return []


async def _check(checking: Checking, hearing: Hearing) -> Finding:
    """Run one check, in a thread: a search through much text would hold up everyone else."""
    name, arguments = checking.name, checking.arguments
    outcome = await asyncio.to_thread(checks.run, name, arguments, hearing.material)
    failure = CHECK_ERROR if name not in CHECKS or CHECKS[name].can_run else CANNOT_RUN
    judgment = Judgment(
        pk=checking.judgment_id,
        judging_id=hearing.judging_id,
        result_id=hearing.result_id,
        criterion_id=checking.criterion_id,
        state=JudgmentState.FAILED if outcome.value is None else JudgmentState.OK,
        value=outcome.value,
        justification=outcome.explanation,
        failure=failure if outcome.value is None else "",
        failure_message=outcome.error,
        created_at=timezone.now(),
    )
    return Finding(judgment)


async def _judge(question: Question, hearing: Hearing, desk: Desk) -> tuple[bool, Saved]:
    """Ask one judge, and hand over what came of it for saving; tells whether it failed."""
    about = (question.seat, question.wording, hearing.case, question.key)
    heard = await hear(*about, desk, mender=question.mender)
    finding = Finding(_judgment(question, hearing, heard), heard.calls)
    return heard.verdict is None, desk.save_later(finding, *finding.calls)


def _judgment(question: Question, hearing: Hearing, heard: Heard) -> Judgment:
    verdict = heard.verdict
    return Judgment(
        pk=question.judgment_id,
        judging_id=hearing.judging_id,
        result_id=hearing.result_id,
        criterion_id=question.criterion_id,
        judge_id=question.seat.judge_id,
        template_id=question.wording.template_id if question.wording else None,
        sample=question.sample,
        is_backup=question.is_backup,
        state=heard.state,
        option=verdict.option if verdict else "",
        value=verdict.value if verdict else None,
        justification=verdict.justification if verdict else "",
        failure=heard.failure,
        failure_message=heard.message,
        call=heard.call,
        created_at=timezone.now(),
    )


# Saving ------------------------------------------------------------------------------------------

FINISHED_FIELDS = ["state", "worker", "next_try_at", "error_kind", "error_message", "cost_usd"]
JUDGMENT_FIELDS = [
    "state",
    "option",
    "value",
    "justification",
    "template",
    "failure",
    "failure_message",
    "call",
    "created_at",
]


def _store_judgments(saves: list[Save]) -> None:
    # Copies: saving may be done again after it failed, and must not find keys that were undone.
    judgments = [copy(save.content.judgment) for save in saves]
    Judgment.objects.bulk_create([row for row in judgments if row.pk is None])
    overwrite([row for row in judgments if row.pk is not None], JUDGMENT_FIELDS)


def _finish(finished: dict[int, Finished]) -> None:
    assessments = list(Assessment.objects.filter(pk__in=finished))
    _store_similarities({a.result_id: finished[a.pk].similarity for a in assessments})
    for assessment in assessments:
        assessment.state, assessment.worker, assessment.next_try_at = ItemState.DONE, None, None
        assessment.error_kind = assessment.error_message = ""
        assessment.cost_usd = finished[assessment.pk].cost_usd
    score_assessments(assessments, also=FINISHED_FIELDS)


def _store_similarities(measured: dict[int, float | None]) -> None:
    found = {pk: value for pk, value in measured.items() if value is not None}
    results = list(Result.objects.filter(pk__in=found).order_by("pk")) if found else []
    for result in results:
        result.similarity = found[result.pk]
    overwrite(results, ["similarity"])


def total_cost(costs: Iterable[Cost]) -> Decimal | None:
    """What calls cost in all, in US dollars; None as soon as that of one is not known.

    A call that failed adds what is known of it: most failures are not charged for.
    """
    asked = [cost for cost in costs if not (cost.is_failed and cost.usd is None)]
    known = [cost.usd for cost in asked if cost.usd is not None]
    return sum(known, Decimal(0)) if known and len(known) == len(asked) else None
