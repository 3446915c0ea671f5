"""The background work of a try: the judge is asked about each precedent, and what it says kept."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F, QuerySet

from evalhub.llm.endpoint import Endpoint
from evalhub.models import ItemState
from evalhub.work.budget import Spend
from evalhub.work.caller import ModelCaller
from evalhub.work.kinds import Kind, Save
from evalhub.work.rows import overwrite
from issues.models import Test
from runs.judging.judge_replies import JudgeReply, ask_judge
from runs.judging.jury import FrozenJudge, frozen_jury_from
from runs.judging.prompts import JudgedAnswer, JudgePromptTemplate
from runs.judging.tasks import judged_answer_of
from runs.models import JudgmentState
from runs.tuning.frozen_prompt import prompt_template_of_content, tests_of
from runs.tuning.models import Attempt, AttemptJudgment, LabelledExample

ENDED_FIELDS = [
    "state",
    "worker",
    "next_try_at",
    "option",
    "value",
    "justification",
    "was_repaired",
    "error_kind",
    "error_message",
    "call",
]


@dataclass
class JudgeRequest:
    """One verdict that is missing. `sealed` are the sealed tests whose text its calls carry."""

    item_id: int
    frozen_judge: FrozenJudge
    repair_model: Endpoint | None
    prompt_template: JudgePromptTemplate
    case: JudgedAnswer
    key: str
    sealed: list[int]


class TuningKind(Kind[Attempt, AttemptJudgment, JudgeRequest]):
    """The work of a try: its verdicts are the items, one question each."""

    batch_model, item_model, batch_field = Attempt, AttemptJudgment, "attempt"

    def endpoints(self, batch: Attempt) -> list[Endpoint]:
        repair_model = repair_model_of(batch)
        return [frozen_judge_of(batch).endpoint, *([repair_model] if repair_model else [])]

    def spend(self, batch: Attempt) -> Spend:
        limit = batch.cost_limit_usd
        spent = Attempt.objects.values_list("spent_usd", flat=True).get(pk=batch.pk)
        return Spend(float(spent), None if limit is None else float(limit), batch.work_key)

    def prepare(self, batch: Attempt, item_ids: Sequence[int]) -> list[JudgeRequest]:
        frozen_judge, repair_model = frozen_judge_of(batch), repair_model_of(batch)
        prompt_template = prompt_template_of_content(batch.content, batch.template_id or 0)
        verdicts = dict(
            AttemptJudgment.objects.filter(pk__in=item_ids).values_list("pk", "labelled_example_id")
        )
        rows = with_texts(LabelledExample.objects.filter(pk__in=verdicts.values()))
        precedents = {row.pk: row for row in rows}
        taught = _sealed_since(batch)
        return [
            JudgeRequest(
                pk,
                frozen_judge,
                repair_model,
                prompt_template,
                *_about(precedents[labelled_example], taught),
            )
            for pk, labelled_example in verdicts.items()
        ]

    def sealed_tests(self, job: JudgeRequest) -> list[int]:
        return job.sealed

    async def perform(self, job: JudgeRequest, caller: ModelCaller) -> None:
        about = (job.frozen_judge, job.prompt_template, job.case, job.key)
        judge_reply = await ask_judge(*about, caller, repair_model=job.repair_model)
        await caller.save(judge_reply, *judge_reply.calls)

    def store(self, saves: list[Save]) -> None:
        said = {
            save.item_id: save.content for save in saves if isinstance(save.content, JudgeReply)
        }
        verdicts = list(AttemptJudgment.objects.filter(pk__in=said).order_by("pk"))
        for verdict in verdicts:
            _keep(verdict, said[verdict.pk])
        overwrite(verdicts, ENDED_FIELDS)


def frozen_judge_of(attempt: Attempt) -> FrozenJudge:
    """The judge as it was when the try began."""
    return frozen_jury_from(attempt.frozen_judge).frozen_judges[0]


def repair_model_of(attempt: Attempt) -> Endpoint | None:
    """Who mends replies that cannot be read; None: the judge itself."""
    stored = attempt.frozen_judge.get("repair_model")
    return Endpoint.from_json(stored) if stored else None


def with_texts(precedents: QuerySet[LabelledExample]) -> QuerySet[LabelledExample]:
    """Precedents with all at hand that a judge is asked about them."""
    rows = precedents.select_related(
        "criterion", "result__answer", "result__revision", "result__run"
    )
    return rows.annotate(is_sealed=F("result__test__sealed")).order_by("pk")


def judged_answer_about(labelled_example: LabelledExample) -> JudgedAnswer:
    """What a judge reads of it, as the run asked and answered it."""
    return judged_answer_of(labelled_example.result, labelled_example.result.run.system_prompt)


def _sealed_since(batch: Attempt) -> list[int]:
    """The tests of its examples that were sealed after it began: judges may be shown them."""
    rows = Test.objects.filter(pk__in=tests_of(batch.content), sealed=True)
    return sorted(rows.values_list("pk", flat=True))


def _about(
    labelled_example: LabelledExample, taught: list[int]
) -> tuple[JudgedAnswer, str, list[int]]:
    """What is asked about: the case, the criterion's key, and the sealed tests that it carries."""
    is_sealed = labelled_example.is_sealed  # type: ignore[attr-defined]
    sealed = [labelled_example.result.test_id, *taught] if is_sealed else taught
    return judged_answer_about(labelled_example), labelled_example.criterion.key, sealed


def _keep(verdict: AttemptJudgment, judge_reply: JudgeReply) -> None:
    said = judge_reply.verdict
    verdict.state = ItemState.DONE if said else ItemState.ERROR
    verdict.worker = verdict.next_try_at = None
    verdict.option, verdict.value = (said.option, said.value) if said else ("", None)
    verdict.justification = said.justification if said else ""
    verdict.was_repaired = judge_reply.state == JudgmentState.REPAIRED
    verdict.error_kind, verdict.error_message = judge_reply.failure, judge_reply.message
    verdict.call = judge_reply.call
