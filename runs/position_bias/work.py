"""Background work of a reversed judge run: ask for each verdict again, the options reversed."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from evalhub.llm.endpoint import Endpoint
from evalhub.models import ItemState
from evalhub.work.caller import ModelCaller
from evalhub.work.kinds import Kind, Save
from issues.models import Test
from runs.judging.ask_judge import JudgeReply, ask_judge
from runs.judging.jury import FrozenJudge, frozen_jury_of, prompt_templates_of
from runs.judging.prompts import JudgedAnswer, JudgePromptTemplate
from runs.judging.tasks import judged_answer_of
from runs.models import JudgmentState
from runs.position_bias.models import ReversedJudgeRun, ReversedJudgment

ENDED_FIELDS = [
    *("state", "worker", "next_try_at", "option", "value", "justification"),
    *("was_repaired", "error_kind", "error_message", "call"),
]


@dataclass
class ReversedRequest:
    """A missing verdict. `sealed`: the sealed tests whose text its calls carry."""

    item_id: int
    judge: FrozenJudge
    template: JudgePromptTemplate | None
    case: JudgedAnswer
    key: str
    repair_model: Endpoint | None
    sealed: list[int]


class ReversedKind(Kind[ReversedJudgeRun, ReversedJudgment, ReversedRequest]):
    """The work of a reversed judge run; each of its judgments is an item."""

    batch_model, item_model, batch_field = ReversedJudgeRun, ReversedJudgment, "judge_run"

    def batches(self) -> QuerySet[ReversedJudgeRun]:
        return ReversedJudgeRun.objects.select_related("judge_run__run")

    def endpoints(self, batch: ReversedJudgeRun) -> list[Endpoint]:
        jury = frozen_jury_of(batch.judge_run.jury, with_templates=False)
        every = [*(judge.endpoint for judge in jury.everyone), *jury.repair_models.values()]
        return list({endpoint.language_model_id: endpoint for endpoint in every}.values())

    def prepare(self, batch: ReversedJudgeRun, item_ids: Sequence[int]) -> list[ReversedRequest]:
        rows = list(
            ReversedJudgment.objects.filter(pk__in=item_ids).select_related(
                *("judgment__result__answer", "judgment__result__revision"),
                *("judgment__result__test", "judgment__criterion"),
            )
        )
        jury = frozen_jury_of(batch.judge_run.jury, with_templates=False)
        judges = {judge.judge_id: judge for judge in jury.everyone}
        templates = prompt_templates_of(row.judgment.template_id for row in rows)
        requests = []
        for row in rows:
            asked = row.judgment
            template = templates.get(asked.template_id or 0)
            requests.append(
                ReversedRequest(
                    item_id=row.pk,
                    judge=judges[asked.judge_id or 0],
                    template=template.reversed() if template else None,
                    case=judged_answer_of(asked.result, batch.judge_run.run.system_prompt),
                    key=asked.criterion.key,
                    repair_model=jury.repair_models.get(asked.template_id or 0),
                    sealed=[asked.result.test_id] if asked.result.test.sealed else [],
                )
            )
        _add_sealed_examples(requests)
        return requests

    def sealed_tests(self, job: ReversedRequest) -> list[int]:
        return job.sealed

    async def perform(self, job: ReversedRequest, caller: ModelCaller) -> None:
        about = (job.judge, job.template, job.case, job.key)
        reply = await ask_judge(*about, caller, repair_model=job.repair_model)
        await caller.save(reply, *reply.calls)

    def store(self, saves: list[Save]) -> None:
        replies = {one.item_id: one.content for one in saves if isinstance(one.content, JudgeReply)}
        judgments = list(ReversedJudgment.objects.filter(pk__in=replies).order_by("pk"))
        for judgment in judgments:
            _fill(judgment, replies[judgment.pk])
        ReversedJudgment.objects.bulk_update(judgments, ENDED_FIELDS)


def _add_sealed_examples(requests: Sequence[ReversedRequest]) -> None:
    """Add the sealed tests of all examples in each template to those that its calls carry."""
    shown = [
        {row.test_id for row in one.template.examples.rows if row.test_id}
        if one.template
        else set()
        for one in requests
    ]
    tests = set().union(*shown)
    sealed = set(Test.objects.filter(pk__in=tests, sealed=True).values_list("pk", flat=True))
    for request, mine in zip(requests, shown, strict=True):
        request.sealed += sorted((mine & sealed) - {*request.sealed})


def _fill(judgment: ReversedJudgment, reply: JudgeReply) -> None:
    verdict = reply.verdict
    judgment.state = ItemState.DONE if verdict else ItemState.ERROR
    judgment.worker = judgment.next_try_at = None
    judgment.option = verdict.option if verdict else ""
    judgment.value = verdict.value if verdict else None
    judgment.justification = verdict.justification if verdict else ""
    judgment.was_repaired = reply.state == JudgmentState.REPAIRED
    judgment.error_kind, judgment.error_message = reply.failure, reply.message
    judgment.call = reply.call
