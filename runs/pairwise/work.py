"""Background work of a pairwise judge run: ask each pair in each order, and save the choice."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalhub.llm.endpoint import Endpoint
from evalhub.models import ItemState
from evalhub.work.caller import ModelCaller
from evalhub.work.kinds import Kind, Save
from issues.judge_templates.pairwise_prompt import Choice, PairCase
from runs.judging.tasks import refuse_removed
from runs.pairwise.ask_pair import PairReply, ask_pair
from runs.pairwise.models import PairJudgment, PairwiseJudgeRun
from runs.pairwise.pairs import case_of

ENDED_FIELDS = [
    *("state", "worker", "next_try_at", "choice", "justification"),
    *("was_repaired", "error_kind", "error_message", "call"),
]


@dataclass
class PairRequest:
    """A missing judgment. `sealed`: the sealed tests whose text its calls carry."""

    item_id: int
    endpoint: Endpoint
    case: PairCase
    ties: bool
    sealed: list[int]


class PairwiseKind(Kind[PairwiseJudgeRun, PairJudgment, PairRequest]):
    """The work of a pairwise judge run; each of its judgments is an item."""

    batch_model, item_model, batch_field = PairwiseJudgeRun, PairJudgment, "judge_run"

    def endpoints(self, batch: PairwiseJudgeRun) -> list[Endpoint]:
        return [Endpoint.from_json(batch.endpoint)]

    def prepare(self, batch: PairwiseJudgeRun, item_ids: Sequence[int]) -> list[PairRequest]:
        (endpoint,) = self.endpoints(batch)
        rows = PairJudgment.objects.filter(pk__in=item_ids).select_related(
            *("pair__first__answer", "pair__second__answer", "pair__first__test"),
            *("pair__first__revision", "pair__second__revision"),
        )
        requests = []
        for row in rows:
            first, second = row.pair.first, row.pair.second
            refuse_removed(first, second)
            case = case_of(first, second, batch.criterion)
            shown = case.reversed() if row.order else case
            sealed = [first.test_id] if first.test.sealed else []
            requests.append(PairRequest(row.pk, endpoint, shown, batch.ties, sealed))
        return requests

    def sealed_tests(self, job: PairRequest) -> list[int]:
        return job.sealed

    async def perform(self, job: PairRequest, caller: ModelCaller) -> None:
        reply = await ask_pair(job.endpoint, job.case, caller, ties=job.ties)
        await caller.save(reply, *reply.calls)

    def store(self, saves: list[Save]) -> None:
        replies = {one.item_id: one.content for one in saves if isinstance(one.content, PairReply)}
        judgments = list(PairJudgment.objects.filter(pk__in=replies).order_by("pk"))
        for judgment in judgments:
            _fill(judgment, replies[judgment.pk])
        PairJudgment.objects.bulk_update(judgments, ENDED_FIELDS)


def _fill(judgment: PairJudgment, reply: PairReply) -> None:
    verdict = reply.verdict
    judgment.state = ItemState.DONE if verdict else ItemState.ERROR
    judgment.worker = judgment.next_try_at = None
    judgment.choice = _in_terms_of_pair(verdict.choice, judgment.order) if verdict else ""
    judgment.justification = verdict.justification if verdict else ""
    judgment.was_repaired = reply.was_repaired
    judgment.error_kind, judgment.error_message = reply.failure, reply.message
    judgment.call = reply.call


def _in_terms_of_pair(shown: Choice, order: int) -> str:
    return (shown.turned() if order else shown).value
