"""Background work of a pairwise judge run: ask each pair in each order, and save the choice."""

from collections.abc import Sequence
from functools import partial

from evalhub.llm.endpoint import Endpoint
from issues.judge_templates.pairwise_prompt import PairVerdict
from runs.judging.ask_judge import ask_pair
from runs.judging.tasks import refuse_removed
from runs.judging.verdict_work import VerdictKind, VerdictRequest
from runs.laboratory.pairwise.models import PairJudgment, PairwiseJudgeRun
from runs.laboratory.pairwise.pairs import case_of


class PairwiseKind(VerdictKind[PairwiseJudgeRun, PairJudgment]):
    """The work of a pairwise judge run; each of its judgments is an item."""

    batch_model, item_model, batch_field = PairwiseJudgeRun, PairJudgment, "judge_run"
    value_fields = ("choice",)
    about = "A model compares the answers of runs, two at a time"

    def endpoints(self, batch: PairwiseJudgeRun) -> list[Endpoint]:
        return [Endpoint.from_json(batch.endpoint)]

    def prepare(self, batch: PairwiseJudgeRun, item_ids: Sequence[int]) -> list[VerdictRequest]:
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
            ask = partial(ask_pair, endpoint, shown, ties=batch.ties)
            requests.append(VerdictRequest(row.pk, ask, sealed))
        return requests

    def values_of(self, item: PairJudgment, verdict: PairVerdict) -> tuple[str]:
        """Return the choice in terms of the pair, however it was shown."""
        return (verdict.in_order(item.order).value,)
