"""Attempts with a draft: the judge re-judges both splits; no score of a run changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max

from evalhub.models import BatchState, User
from evalhub.values.digest import digest
from evalhub.work.processes.queue import request_worker
from issues.judge_templates.examples import problems_of_examples
from issues.judge_templates.prompts import PromptError
from issues.models import JudgeTemplate, TemplateState
from issues.rubrics.scales import ScaleError
from runs.judging.jury import repair_endpoints_of, snapshot
from runs.judging.prompts import messages_for
from runs.laboratory.tuning.frozen_prompt import frozen, prompt_template_of_content, tests_of
from runs.laboratory.tuning.models import Attempt, AttemptJudgment, LabelledExample, Split, Tuning
from runs.laboratory.tuning.work import judged_answer_about, with_texts
from runs.launching.batch_estimate import BatchEstimate, evenly, load_by_sample
from runs.launching.endpoint_load import Span
from runs.launching.exposure import exposure_of_results
from runs.models import Result


@dataclass(frozen=True, kw_only=True)
class AttemptEstimate(BatchEstimate):
    """The effort of an attempt, without answers whose tests are examples of the draft."""

    labelled_examples: list[int]
    left_out: int
    input_tokens: Span
    output_tokens: Span

    @property
    def answers(self) -> int:
        return len(self.labelled_examples)


def estimate(tuning: Tuning, draft: JudgeTemplate) -> AttemptEstimate:
    """Estimate an attempt's calls, tokens and cost, and list what prevents it."""
    content = frozen(draft)
    labelled_examples = examples_for(tuning, content)
    judge = tuning.judge
    load = load_by_sample(
        judge.language_model.judge_endpoint(),
        len(labelled_examples) * judge.samples,
        _prompt_lengths(tuning, content, labelled_examples, draft.pk),
        params=judge.params,
    )
    rows = LabelledExample.objects.filter(pk__in=labelled_examples)
    results = Result.objects.filter(pk__in=rows.values("result"))
    repair_models = repair_endpoints_of([draft.pk]).values()
    roles = [("judge", load.endpoint), *(("repair", model) for model in repair_models)]
    return AttemptEstimate.of(
        [load],
        labelled_examples=labelled_examples,
        left_out=tuning.examples.count() - len(labelled_examples),
        input_tokens=load.input_tokens,
        output_tokens=load.output_tokens,
        problems=problems_of(tuning, draft),
        sealed_exposure=exposure_of_results(results, roles),
    )


def examples_for(tuning: Tuning, content: dict[str, Any]) -> list[int]:
    """Return the labelled examples to judge; those of the draft's own examples are left out."""
    rows = tuning.examples.exclude(result__test__in=tests_of(content)).order_by("pk")
    return list(rows.values_list("pk", flat=True))


def problems_of(tuning: Tuning, draft: JudgeTemplate) -> list[str]:
    """Return what prevents an attempt with this draft; empty if nothing does."""
    problems = list(draft_problems(draft))
    model = tuning.judge.language_model
    if not model.is_active:
        problems.append(f"{model} is inactive: activate it first.")
    if draft.family != tuning.template.family:
        problems.append(f"{draft} belongs to a different template than {tuning.template}.")
    held_out = tuning.examples.filter(split=Split.HELD_OUT)
    leaked = held_out.filter(result__test__in=tests_of(frozen(draft)))
    if n := leaked.values("result__test").distinct().count():
        problems.append(
            f"{n} of the draft's examples {'come from tests' if n != 1 else 'comes from a test'} "
            f"in the held-out split. Remove {'them' if n != 1 else 'it'}: a draft cannot be tested "
            "on its own examples."
        )
    return problems


def draft_problems(draft: JudgeTemplate) -> list[str]:
    """Return errors in the draft's prompt, scale or examples."""
    if draft.state != TemplateState.DRAFT:
        return [f"{draft} is already {draft.get_state_display()}: create a new version."]
    try:
        draft.full_clean()
    except ValidationError as error:
        return list(error.messages)
    return problems_of_examples(draft)


def _prompt_lengths(
    tuning: Tuning, content: dict[str, Any], labelled_examples: Sequence[int], template_id: int
) -> list[int]:
    """Return the characters of the prompts of an even sample; [] if one cannot be rendered."""
    rows = with_texts(LabelledExample.objects.filter(pk__in=evenly(labelled_examples)))
    model, role = tuning.judge.language_model_id, tuning.judge.role
    sizes = []
    try:
        template = prompt_template_of_content(content, template_id)
        for row in rows:
            case, key = judged_answer_about(row), row.criterion.key
            asked = messages_for(template, case, key, language_model_id=model, role=role)
            sizes.append(len(str(asked)))
    except (PromptError, ScaleError):
        return []
    return sizes


@transaction.atomic
def start_attempt(
    tuning: Tuning,
    draft: JudgeTemplate,
    *,
    by: User | None,
    cost_limit_usd: Decimal | None = None,
    allow_sealed_exposure: bool = False,
) -> Attempt:
    """Queue an attempt with the draft as it is now.

    Args:
        allow_sealed_exposure: Whether sealed tests may leave the trusted network.

    Raises:
        Refused: The draft has problems, or another attempt is running.
    """
    locked = Tuning.objects.select_for_update(of=("self",)).get(pk=tuning.pk)
    draft = JudgeTemplate.objects.get(pk=draft.pk)
    found, problems = estimate(locked, draft), []
    if locked.attempts.filter(state__in=(BatchState.LIVE, BatchState.PAUSED)).exists():
        problems.append("Another attempt is running: wait for it, or cancel it.")
    if not found.labelled_examples:
        problems.append("No answers left to judge: every test is an example of the draft.")
    found.check(cost_limit_usd, allow_sealed_exposure=allow_sealed_exposure, problems=problems)
    attempt = _attempt(locked, draft, frozen(draft), by, cost_limit_usd)
    AttemptJudgment.objects.bulk_create(
        AttemptJudgment(attempt=attempt, labelled_example_id=pk, sample=sample)
        for pk in found.labelled_examples
        for sample in range(locked.judge.samples)
    )
    request_worker()
    return attempt


def _attempt(
    tuning: Tuning,
    draft: JudgeTemplate,
    content: dict[str, Any],
    by: User | None,
    cost_limit_usd: Decimal | None,
) -> Attempt:
    last = tuning.attempts.aggregate(last=Max("number"))["last"] or 0
    repair_model = repair_endpoints_of([draft.pk]).get(draft.pk)
    frozen_judge = snapshot([tuning.judge], None, name=str(tuning.judge))
    frozen_judge["repair_model"] = repair_model.to_json() if repair_model else None
    return Attempt.objects.create(
        tuning=tuning,
        number=last + 1,
        template=draft,
        content=content,
        digest=digest(content),
        frozen_judge=frozen_judge,
        requested_by=by,
        cost_limit_usd=cost_limit_usd,
    )
