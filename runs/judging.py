"""Judging: each result's judges are asked, and their replies become judgments."""

import asyncio
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from django.db.models import QuerySet
from django.utils import timezone

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.replies import Unreadable, Verdict, echoes, parse_verdict, repair_messages
from evalhub.models import Call, CallRole, ItemState
from evalhub.work.desk import BatchFailed, Desk, Reply
from evalhub.work.gate import GivenBack
from evalhub.work.kinds import Kind, Purse, Save
from evalhub.work.rows import overwrite
from evalhub.work.saver import LeaseLost
from issues.models import JudgeTemplate
from issues.prompts import PromptError
from runs.agreement import statistics_of
from runs.answering import purse_of
from runs.asking import Case, Wording, messages_for, params_for
from runs.models import Assessment, Judgment, JudgmentState, Result
from runs.models import Judging as JudgingRow
from runs.scoring import score_assessments, score_results

T = TypeVar("T")

ECHO, UNREADABLE, UNASKABLE = "echo", "unreadable", "unaskable"

RETRY = "retry"
"""Error kind of an assessment whose failed judgments are to be asked for once more."""


@dataclass(frozen=True)
class Seat:
    """One judge of a judging, by copy. `wording` None: each test's own template."""

    judge_id: int
    endpoint: Endpoint
    params: dict[str, Any]
    wording: Wording | None


@dataclass(frozen=True)
class Question:
    """One judgment that is missing. `judgment_id` is that of a failed one to be replaced."""

    seat: Seat
    wording: Wording
    criterion_id: int
    criterion: str
    judgment_id: int | None


class Cost(NamedTuple):
    """Of one call, in US dollars; None: not known."""

    usd: Decimal | None
    is_failed: bool


@dataclass
class Hearing:
    """One assessment to be made: what is judged, and the judgments that are missing.

    `earlier` is what was already asked for it, by a worker that gave it back or died.
    """

    item_id: int
    judging_id: int
    result_id: int
    case: Case
    questions: list[Question]
    earlier: list[Cost] = field(default_factory=list)


@dataclass
class Finding:
    """A judgment as it is to be saved, with the calls that are to be saved with it."""

    judgment: Judgment
    calls: list[Call] = field(default_factory=list)


@dataclass
class Finished:
    """All judgments of an assessment are saved. `cost_usd` is that of all its calls."""

    cost_usd: Decimal | None


class Judging(Kind):
    """The work of a judging: its assessments are the items."""

    batch_model, item_model = JudgingRow, Assessment

    def claimable(self, batch: JudgingRow) -> QuerySet[Assessment]:
        return Assessment.objects.filter(judging=batch, result__state=ItemState.DONE)

    def remaining(self, batch: JudgingRow) -> QuerySet[Assessment]:
        return Assessment.objects.filter(judging=batch, state=ItemState.PENDING)

    def endpoints(self, batch: JudgingRow) -> list[Endpoint]:
        return [Endpoint.from_json(judge["endpoint"]) for judge in batch.jury["judges"]]

    def purse(self, batch: JudgingRow) -> Purse:
        return purse_of(batch.run)

    def batches(self) -> QuerySet[JudgingRow]:
        return JudgingRow.objects.select_related("run")

    def prepare(self, batch: JudgingRow, item_ids: Sequence[int]) -> list[Hearing]:
        return hearings(batch, item_ids)

    async def perform(self, job: Hearing, desk: Desk) -> None:
        saved = await all_or_none(_judge(question, job, desk) for question in job.questions)
        if not all([await future for future in saved]):
            raise LeaseLost
        costs = [Cost(call.cost_usd, bool(call.error_kind)) for call in desk.calls]
        await desk.save(Finished(total_cost([*job.earlier, *costs])))

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


# Reading what is to be judged ---------------------------------------------------------------------


def hearings(judging: JudgingRow, assessment_ids: Sequence[int]) -> list[Hearing]:
    """Jobs for these assessments, each with exactly the judgments that are missing."""
    assessments = list(
        Assessment.objects.filter(pk__in=assessment_ids)
        .select_related("result__answer", "result__revision__template")
        .prefetch_related("result__revision__criteria")
    )
    seats = seats_of(judging)
    known = _known(judging, [assessment.result_id for assessment in assessments])
    earlier = _earlier(judging, [a.pk for a in assessments if a.result_id in known])
    wordings: dict[int, Wording] = {}
    return [
        Hearing(
            item_id=assessment.pk,
            judging_id=judging.pk,
            result_id=assessment.result_id,
            case=case_of(assessment.result, judging.run.system_prompt),
            questions=_questions(assessment, seats, known.get(assessment.result_id, {}), wordings),
            earlier=earlier[assessment.pk],
        )
        for assessment in assessments
    ]


def _earlier(judging: JudgingRow, assessment_ids: list[int]) -> dict[int, list[Cost]]:
    """Costs of all calls that were made for assessments of which something is known."""
    costs: dict[int, list[Cost]] = defaultdict(list)
    if assessment_ids:
        calls = Call.objects.filter(batch=judging.work_key, item_id__in=assessment_ids).order_by()
        for call in calls.only("item_id", "cost_usd", "error_kind"):
            assert call.item_id is not None  # it was found by it
            costs[call.item_id].append(Cost(call.cost_usd, bool(call.error_kind)))
    return costs


def seats_of(judging: JudgingRow) -> list[Seat]:
    """The judges of a judging as its snapshot has them."""
    judges = judging.jury["judges"]
    templates = JudgeTemplate.objects.in_bulk([j["template"] for j in judges if j["template"]])
    return [
        Seat(
            judge_id=judge["judge"],
            endpoint=Endpoint.from_json(judge["endpoint"]),
            params=judge["params"],
            wording=Wording.of(templates[judge["template"]]) if judge["template"] else None,
        )
        for judge in judges
    ]


def case_of(result: Result, system_prompt: str) -> Case:
    """A result as judges see it."""
    turns = [turn["content"] for turn in result.answer.turns]
    return Case(result.revision.content, system_prompt, turns or [result.answer.text])


Known = dict[tuple[int, int | None], Judgment]


def _known(judging: JudgingRow, result_ids: list[int]) -> dict[int, Known]:
    known: dict[int, Known] = defaultdict(dict)
    for row in Judgment.objects.filter(judging=judging, result__in=result_ids):
        known[row.result_id][row.criterion_id, row.judge_id] = row
    return dict(known)


def _questions(
    assessment: Assessment, seats: list[Seat], known: Known, wordings: dict[int, Wording]
) -> list[Question]:
    """The judgments that are missing; those that failed too, where a person asked for it."""
    result, is_retry = assessment.result, assessment.error_kind == RETRY
    questions = []
    for criterion in result.revision.criteria.all():
        for seat in seats:
            before = known.get((criterion.pk, seat.judge_id))
            if before is None or (is_retry and before.state == JudgmentState.FAILED):
                wording = seat.wording or _own_wording(result, wordings)
                failed = before.pk if before else None
                questions.append(Question(seat, wording, criterion.pk, criterion.text, failed))
    return questions


def _own_wording(result: Result, wordings: dict[int, Wording]) -> Wording:
    template = result.revision.template
    if template is None:
        raise ValueError(f"{result.revision} has no judge template, so no judge can be asked.")
    if template.pk not in wordings:
        wordings[template.pk] = Wording.of(template)
    return wordings[template.pk]


# Asking ------------------------------------------------------------------------------------------


async def _judge(question: Question, hearing: Hearing, desk: Desk) -> "asyncio.Future[bool]":
    """Ask one judge, and hand over what came of it for saving."""
    try:
        finding = await _ask(question, hearing, desk)
    except CallError as error:
        finding = Finding(_failed(question, hearing, error.kind.value, error.message))
    except PromptError as error:
        finding = Finding(_failed(question, hearing, UNASKABLE, str(error)))
    return desk.save_later(finding, *finding.calls)


async def _ask(question: Question, hearing: Hearing, desk: Desk) -> Finding:
    seat, wording = question.seat, question.wording
    messages = messages_for(wording, hearing.case, question.criterion)
    params = params_for(seat.endpoint, seat.params, wording.schema)
    reply = await desk.call(
        seat.endpoint, messages, params, role=CallRole.JUDGE, schema=wording.schema
    )
    first = parse_verdict(reply.completion.text, wording.scale.options)
    if isinstance(first, Verdict):
        return _finding(question, hearing, first, [reply], JudgmentState.OK)
    desk.record(reply.call)
    again = [
        *messages,
        *repair_messages(first.reason, wording.schema, reply.completion.text),
    ]
    try:
        repair = await desk.call(
            seat.endpoint, again, params, role=CallRole.REPAIR, schema=wording.schema
        )
    except CallError:
        return Finding(_unreadable(question, hearing, first, reply))
    second = parse_verdict(repair.completion.text, wording.scale.options)
    if isinstance(second, Verdict):
        return _finding(question, hearing, second, [reply, repair], JudgmentState.REPAIRED)
    return Finding(_unreadable(question, hearing, second, repair), [repair.call])


def _finding(
    question: Question,
    hearing: Hearing,
    verdict: Verdict,
    replies: list[Reply],
    state: JudgmentState,
) -> Finding:
    last = replies[-1]
    if any(echoes(reply.completion.text, hearing.case.output) for reply in replies):
        message = "The judge repeated a verdict that stands in the answer it was to judge."
        return Finding(_failed(question, hearing, ECHO, message, last.call), [last.call])
    judgment = _blank(question, hearing, last.call)
    judgment.state = JudgmentState.REPAIRED if verdict.repaired else state
    judgment.option, judgment.value = verdict.option, verdict.value
    judgment.justification = verdict.justification
    return Finding(judgment, [last.call])


def _unreadable(
    question: Question, hearing: Hearing, unreadable: Unreadable, reply: Reply
) -> Judgment:
    return _failed(question, hearing, UNREADABLE, unreadable.reason, reply.call)


def _failed(
    question: Question, hearing: Hearing, failure: str, message: str, call: Call | None = None
) -> Judgment:
    judgment = _blank(question, hearing, call)
    judgment.state, judgment.failure = JudgmentState.FAILED, failure
    judgment.failure_message = message
    return judgment


def _blank(question: Question, hearing: Hearing, call: Call | None) -> Judgment:
    return Judgment(
        pk=question.judgment_id,
        judging_id=hearing.judging_id,
        result_id=hearing.result_id,
        criterion_id=question.criterion_id,
        judge_id=question.seat.judge_id,
        call=call,
        created_at=timezone.now(),
    )


# Saving ------------------------------------------------------------------------------------------

FINISHED_FIELDS = ["state", "worker", "next_try_at", "error_kind", "error_message", "cost_usd"]
JUDGMENT_FIELDS = [
    "state",
    "option",
    "value",
    "justification",
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
    for assessment in assessments:
        assessment.state, assessment.worker, assessment.next_try_at = ItemState.DONE, None, None
        assessment.error_kind = assessment.error_message = ""
        assessment.cost_usd = finished[assessment.pk].cost_usd
    score_assessments(assessments, also=FINISHED_FIELDS)


def total_cost(costs: Iterable[Cost]) -> Decimal | None:
    """What calls cost in all, in US dollars; None as soon as that of one is not known.

    A call that failed adds what is known of it: most failures are not charged for.
    """
    asked = [cost for cost in costs if not (cost.is_failed and cost.usd is None)]
    known = [cost.usd for cost in asked if cost.usd is not None]
    return sum(known, Decimal(0)) if known and len(known) == len(asked) else None
