"""Background work of an attempt: judge each labelled example and save the verdict."""

from collections.abc import Sequence
from functools import partial

from django.db.models import F, QuerySet

from evalhub.llm.endpoint import Endpoint
from runs.judging.ask_judge import ask_judge
from runs.judging.jury import FrozenJudge, frozen_jury_of
from runs.judging.prompts import JudgedAnswer
from runs.judging.tasks import judged_answer_of, sealed_among
from runs.judging.verdict_work import VerdictKind, VerdictRequest
from runs.laboratory.tuning.frozen_prompt import prompt_template_of_content, tests_of
from runs.laboratory.tuning.models import Attempt, AttemptJudgment, LabelledExample


class TuningKind(VerdictKind[Attempt, AttemptJudgment]):
    """The work of an attempt; each of its judgments is an item."""

    batch_model, item_model, batch_field = Attempt, AttemptJudgment, "attempt"

    def endpoints(self, batch: Attempt) -> list[Endpoint]:
        repair_model = repair_model_of(batch)
        return [frozen_judge_of(batch).endpoint, *([repair_model] if repair_model else [])]

    def prepare(self, batch: Attempt, item_ids: Sequence[int]) -> list[VerdictRequest]:
        template = prompt_template_of_content(batch.content, batch.template_id or 0)
        asked = partial(ask_judge, frozen_judge_of(batch), template)
        repair_model = repair_model_of(batch)
        verdicts = dict(
            AttemptJudgment.objects.filter(pk__in=item_ids).values_list("pk", "labelled_example_id")
        )
        rows = with_texts(LabelledExample.objects.filter(pk__in=verdicts.values()))
        labelled_examples = {row.pk: row for row in rows}
        taught = sorted(sealed_among(tests_of(batch.content)))
        requests = []
        for pk, labelled_example_id in verdicts.items():
            row = labelled_examples[labelled_example_id]
            is_sealed = row.is_sealed  # type: ignore[attr-defined]
            ask = partial(
                asked, judged_answer_about(row), row.criterion.key, repair_model=repair_model
            )
            sealed = [row.result.test_id, *taught] if is_sealed else taught
            requests.append(VerdictRequest(pk, ask, sealed))
        return requests


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
