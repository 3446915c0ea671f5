"""Background work of an attempt: judge each labelled example and save the verdict."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F, QuerySet

from evalhub.llm.endpoint import Endpoint
from evalhub.models import ItemState
from evalhub.work.caller import ModelCaller
from evalhub.work.kinds import Kind, Save
from issues.models import Test
from runs.judging.ask_judge import JudgeReply, ask_judge
from runs.judging.jury import FrozenJudge, frozen_jury_of
from runs.judging.prompts import JudgedAnswer, JudgePromptTemplate
from runs.judging.tasks import judged_answer_of
from runs.models import JudgmentState
from runs.tuning.frozen_prompt import prompt_template_of_content, tests_of
from runs.tuning.models import Attempt, AttemptJudgment, LabelledExample

ENDED_FIELDS = [
    *("state", "worker", "next_try_at", "option", "value", "justification"),
    *("was_repaired", "error_kind", "error_message", "call"),
]


@dataclass
class JudgeRequest:
    """A missing verdict. `sealed`: the sealed tests whose text its calls carry."""

    item_id: int
    frozen_judge: FrozenJudge
    repair_model: Endpoint | None
    prompt_template: JudgePromptTemplate
    case: JudgedAnswer
    key: str
    sealed: list[int]


class TuningKind(Kind[Attempt, AttemptJudgment, JudgeRequest]):
    """The work of an attempt; each of its judgments is an item."""

    batch_model, item_model, batch_field = Attempt, AttemptJudgment, "attempt"

    def endpoints(self, batch: Attempt) -> list[Endpoint]:
        repair_model = repair_model_of(batch)
        return [frozen_judge_of(batch).endpoint, *([repair_model] if repair_model else [])]

    def prepare(self, batch: Attempt, item_ids: Sequence[int]) -> list[JudgeRequest]:
        frozen_judge, repair_model = frozen_judge_of(batch), repair_model_of(batch)
        prompt_template = prompt_template_of_content(batch.content, batch.template_id or 0)
        verdicts = dict(
            AttemptJudgment.objects.filter(pk__in=item_ids).values_list("pk", "labelled_example_id")
        )
        rows = with_texts(LabelledExample.objects.filter(pk__in=verdicts.values()))
        labelled_examples = {row.pk: row for row in rows}
        examples = Test.objects.filter(pk__in=tests_of(batch.content), sealed=True)
        taught = sorted(examples.values_list("pk", flat=True))
        requests = []
        for pk, labelled_example_id in verdicts.items():
            row = labelled_examples[labelled_example_id]
            is_sealed = row.is_sealed  # type: ignore[attr-defined]
            sealed = [row.result.test_id, *taught] if is_sealed else taught
            about = (judged_answer_about(row), row.criterion.key, sealed)
            requests.append(JudgeRequest(pk, frozen_judge, repair_model, prompt_template, *about))
        return requests

    def sealed_tests(self, job: JudgeRequest) -> list[int]:
        return job.sealed

    async def perform(self, job: JudgeRequest, caller: ModelCaller) -> None:
        about = (job.frozen_judge, job.prompt_template, job.case, job.key)
        judge_reply = await ask_judge(*about, caller, repair_model=job.repair_model)
        await caller.save(judge_reply, *judge_reply.calls)

    def store(self, saves: list[Save]) -> None:
        replies = {
            save.item_id: save.content for save in saves if isinstance(save.content, JudgeReply)
        }
        judgments = list(AttemptJudgment.objects.filter(pk__in=replies).order_by("pk"))
        for judgment in judgments:
            _fill(judgment, replies[judgment.pk])
        AttemptJudgment.objects.bulk_update(judgments, ENDED_FIELDS)


def frozen_judge_of(attempt: Attempt) -> FrozenJudge:
    """Return the judge as it was when the attempt started."""
    return frozen_jury_of(attempt.frozen_judge).frozen_judges[0]


def repair_model_of(attempt: Attempt) -> Endpoint | None:
    """Return the endpoint that repairs unreadable replies; None: the judge itself."""
    stored = attempt.frozen_judge.get("repair_model")
    return Endpoint.from_json(stored) if stored else None


def with_texts(labelled_examples: QuerySet[LabelledExample]) -> QuerySet[LabelledExample]:
    """Prefetch everything that the judge's prompt needs."""
    rows = labelled_examples.select_related(
        "criterion", "result__answer", "result__revision", "result__run"
    )
    return rows.annotate(is_sealed=F("result__test__sealed")).order_by("pk")


def judged_answer_about(labelled_example: LabelledExample) -> JudgedAnswer:
    """Return the judged answer as the run asked and answered it."""
    return judged_answer_of(labelled_example.result, labelled_example.result.run.system_prompt)


def _fill(judgment: AttemptJudgment, reply: JudgeReply) -> None:
    verdict = reply.verdict
    judgment.state = ItemState.DONE if verdict else ItemState.ERROR
    judgment.worker = judgment.next_try_at = None
    judgment.option, judgment.value = (verdict.option, verdict.value) if verdict else ("", None)
    judgment.justification = verdict.justification if verdict else ""
    judgment.was_repaired = reply.state == JudgmentState.REPAIRED
    judgment.error_kind, judgment.error_message = reply.failure, reply.message
    judgment.call = reply.call
