"""Background work of a reversed judge run: ask for each verdict again, the options reversed."""

from collections.abc import Sequence
from functools import partial

from django.db.models import QuerySet

from evalhub.llm.endpoint import Endpoint
from runs.judging.ask_judge import ask_judge
from runs.judging.jury import frozen_jury_of, prompt_templates_of
from runs.judging.tasks import judged_answer_of, sealed_among
from runs.judging.verdict_work import VerdictKind, VerdictRequest
from runs.laboratory.position_bias.models import ReversedJudgeRun, ReversedJudgment


class ReversedKind(VerdictKind[ReversedJudgeRun, ReversedJudgment]):
    """The work of a reversed judge run; each of its judgments is an item."""

    batch_model, item_model, batch_field = ReversedJudgeRun, ReversedJudgment, "judge_run"
    about = "Verdicts given again with the options reversed, for position bias"

    def batches(self) -> QuerySet[ReversedJudgeRun]:
        return ReversedJudgeRun.objects.select_related("judge_run__run")

    def endpoints(self, batch: ReversedJudgeRun) -> list[Endpoint]:
        jury = frozen_jury_of(batch.judge_run.jury, with_templates=False)
        every = [*(judge.endpoint for judge in jury.everyone), *jury.repair_models.values()]
        return list({endpoint.language_model_id: endpoint for endpoint in every}.values())

    def prepare(self, batch: ReversedJudgeRun, item_ids: Sequence[int]) -> list[VerdictRequest]:
        rows = ReversedJudgment.objects.filter(pk__in=item_ids).select_related(
            *("judgment__result__answer", "judgment__result__revision", "judgment__criterion")
        )
        asked = {row.pk: row.judgment for row in rows}
        jury = frozen_jury_of(batch.judge_run.jury, with_templates=False)
        judges = {judge.judge_id: judge for judge in jury.everyone}
        templates = prompt_templates_of(one.template_id for one in asked.values())
        shown = {pk: template.example_tests for pk, template in templates.items()}
        tests = {one.result.test_id for one in asked.values()}
        sealed = sealed_among(tests.union(*shown.values()))
        requests = []
        for pk, one in asked.items():
            template = templates.get(one.template_id or 0)
            ask = partial(
                ask_judge,
                judges[one.judge_id or 0],
                template.reversed() if template else None,
                judged_answer_of(one.result, batch.judge_run.run.system_prompt),
                one.criterion.key,
                repair_model=jury.repair_models.get(one.template_id or 0),
            )
            carried = {one.result.test_id, *shown.get(one.template_id or 0, ())}
            requests.append(VerdictRequest(pk, ask, sorted(carried & sealed)))
        return requests
