"""Trying a draft: the judge is asked again about both halves, and nothing else changes."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, QuerySet

from evalhub.digest import digest
from evalhub.llm.token_estimates import tokens_of
from evalhub.models import BatchState, ItemState, User
from evalhub.work import progress
from evalhub.work.queue import request_worker
from issues.judge_templates.examples import problems_of_examples
from issues.judge_templates.prompts import PromptError
from issues.models import JudgeTemplate, TemplateState
from issues.rubrics.scales import ScaleError
from runs.judging.jury import repair_endpoints_of, snapshot
from runs.judging.prompts import messages_for
from runs.launching.exposure import SealedExposure, refusal, sealed_exposure
from runs.launching.judge_load import VERDICT_SCHEMA_TOKENS
from runs.launching.load import Cost, EndpointLoad, Span, load_of_judge
from runs.tuning.frozen_prompt import frozen, prompt_template_of_content, tests_of
from runs.tuning.models import Attempt, AttemptJudgment, LabelledExample, Split, Tuning
from runs.tuning.start import TuningRefused
from runs.tuning.work import judged_answer_about, with_texts

SAMPLED = 40
"""Prompts that are made to estimate the length of all."""


class Estimate(NamedTuple):
    """What a try takes. `calls` are high where each verdict has to be repaired once.

    `left_out` counts answers whose tests are examples of the draft. `cost` None: not measured, as
    the model's prices are not known.
    """

    answers: int
    left_out: int
    calls: Span
    input_tokens: Span
    output_tokens: Span
    cost: Cost | None
    problems: list[str]
    sealed_exposure: SealedExposure | None


def estimate(tuning: Tuning, draft: JudgeTemplate) -> Estimate:
    """Calls, tokens and money that trying this draft takes, and what stands against it."""
    content = frozen(draft)
    precedents = asked_about(tuning, content)
    problems = problems_of(tuning, draft)
    load = _load(tuning, content, precedents, draft.pk)
    return Estimate(
        answers=len(precedents),
        left_out=tuning.examples.count() - len(precedents),
        calls=load.calls,
        input_tokens=load.input_tokens,
        output_tokens=load.output_tokens,
        cost=load.cost(),
        problems=problems,
        sealed_exposure=sealed_exposure_of(tuning, draft, precedents),
    )


def sealed_exposure_of(
    tuning: Tuning, draft: JudgeTemplate, precedents: Sequence[int]
) -> SealedExposure | None:
    """Which sealed tests would be sent outside the trusted network; None: none."""
    rows = LabelledExample.objects.filter(pk__in=precedents).order_by()
    tests = dict(rows.values_list("result__test", "result__test__sealed"))
    repair_models = repair_endpoints_of([draft.pk]).values()
    roles = [("judge", tuning.judge.language_model.judge_endpoint())]
    roles += [("repair", repair_model) for repair_model in repair_models]
    return sealed_exposure(
        sorted(pk for pk, is_sealed in tests.items() if is_sealed), len(tests), roles
    )


def asked_about(tuning: Tuning, content: dict[str, Any]) -> list[int]:
    """Precedents that a draft is tried on: none of a test that it has an example of."""
    rows = tuning.examples.exclude(result__test__in=tests_of(content)).order_by("pk")
    return list(rows.values_list("pk", flat=True))


def problems_of(tuning: Tuning, draft: JudgeTemplate) -> list[str]:
    """Why this draft cannot be tried, in words; empty where it can."""
    problems = list(draft_problems(draft))
    model = tuning.judge.language_model
    if not model.is_active:
        problems.append(f"{model} is inactive: activate it to ask it again.")
    if draft.family != tuning.template.family:
        problems.append(f"{draft} is of another template than {tuning.template}.")
    held_out = tuning.examples.filter(split=Split.HELD_OUT)
    leaked = held_out.filter(result__test__in=tests_of(frozen(draft)))
    if n := leaked.values("result__test").distinct().count():
        problems.append(
            f"{n} example{'s' if n != 1 else ''} of the draft {'are' if n != 1 else 'is'} of a "
            "test in the held-out half, which would prove nothing then: remove "
            f"{'them' if n != 1 else 'it'} from the draft."
        )
    return problems


def draft_problems(draft: JudgeTemplate) -> list[str]:
    """What keeps a draft's wording, scale or examples from being used."""
    if draft.state != TemplateState.DRAFT:
        return [f"{draft} is {draft.get_state_display()} already: begin a new version."]
    try:
        draft.full_clean()
    except ValidationError as error:
        return list(error.messages)
    return problems_of_examples(draft)


def _load(
    tuning: Tuning, content: dict[str, Any], precedents: Sequence[int], template_id: int
) -> EndpointLoad:
    judge = tuning.judge
    endpoint = judge.language_model.judge_endpoint()
    asked = len(precedents) * judge.samples
    size = asked * _prompt_tokens(tuning, content, precedents, template_id)
    return load_of_judge(
        endpoint, judge.params, judgments=asked, repairs=asked, prompt_tokens=Span(size, size)
    )


def _prompt_tokens(
    tuning: Tuning, content: dict[str, Any], precedents: Sequence[int], template_id: int
) -> int:
    """Tokens of one prompt: the mean of some, spread over all; 0 where none can be made."""
    step = max(1, len(precedents) // SAMPLED)
    rows = with_texts(LabelledExample.objects.filter(pk__in=precedents[::step][:SAMPLED]))
    model = tuning.judge.language_model_id
    try:
        prompt_template = prompt_template_of_content(content, template_id)
        sizes = [
            len(
                str(
                    messages_for(
                        prompt_template,
                        judged_answer_about(row),
                        row.criterion.key,
                        language_model_id=model,
                    )
                )
            )
            for row in rows
        ]
    except (PromptError, ScaleError):
        return 0
    mean = sum(sizes) // len(sizes) if sizes else 0
    return tokens_of(mean) + VERDICT_SCHEMA_TOKENS


# Acts --------------------------------------------------------------------------------------------


@transaction.atomic
def start_attempt(
    tuning: Tuning,
    draft: JudgeTemplate,
    *,
    by: User | None,
    cost_limit_usd: Decimal | None = None,
    allow_sealed_exposure: bool = False,
) -> Attempt:
    """Ask the judge again about both halves with this draft as it is now; a worker does it.

    Args:
        sealed_may_leave: Whether sealed tests may be sent outside the trusted network.

    Raises:
        RehearsalRefused: It cannot be tried, or a try is at work; the message says why.
    """
    locked = Tuning.objects.select_for_update(of=("self",)).get(pk=tuning.pk)
    draft = JudgeTemplate.objects.get(pk=draft.pk)
    problems = problems_of(locked, draft)
    if locked.attempts.filter(state__in=(BatchState.LIVE, BatchState.PAUSED)).exists():
        problems.append("Another try is at work: wait for it, or cancel it.")
    if cost_limit_usd is not None and not locked.judge.language_model.has_prices:
        problems.append(f"A cost limit needs prices: enter those of {locked.judge.language_model}.")
    content = frozen(draft)
    precedents = asked_about(locked, content)
    problems += refusal(
        sealed_exposure_of(locked, draft, precedents), is_allowed=allow_sealed_exposure
    )
    if not precedents:
        problems.append("Nothing is left to be asked about: the draft has all tests as examples.")
    if problems:
        raise TuningRefused(*problems)
    attempt = _attempt(locked, draft, content, by, cost_limit_usd)
    AttemptJudgment.objects.bulk_create(
        AttemptJudgment(attempt=attempt, labelled_example_id=pk, sample=sample)
        for pk in precedents
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
    return Attempt.objects.create(
        tuning=tuning,
        number=last + 1,
        template=draft,
        content=content,
        digest=digest(content),
        frozen_judge=frozen_judge_for(tuning, draft),
        requested_by=by,
        cost_limit_usd=cost_limit_usd,
    )


def frozen_judge_for(tuning: Tuning, draft: JudgeTemplate) -> dict[str, Any]:
    """The judge as it is now, with who mends its replies, by copy."""
    repair_model = repair_endpoints_of([draft.pk]).get(draft.pk)
    frozen_judge = snapshot([tuning.judge], None, name=str(tuning.judge))
    return {**frozen_judge, "repair_model": repair_model.to_json() if repair_model else None}


def judgments_in(attempt: Attempt) -> QuerySet[AttemptJudgment]:
    return AttemptJudgment.objects.filter(attempt=attempt)


def cancel(attempt: Attempt) -> None:
    """Ask no more. What was said stays; it can be resumed.

    Raises:
        NotPossible: It is at an end already.
    """
    progress.cancel(attempt, judgments_in(attempt), reason="Cancelled by a person.")


@transaction.atomic
def resume(attempt: Attempt, *, cost_limit_usd: Decimal | None = None) -> None:
    """Go on with exactly what is missing.

    Args:
        cost_limit_usd: The new limit; None: the one that it has.

    Raises:
        NotPossible: It does not stand still.
    """
    if cost_limit_usd is not None:
        Attempt.objects.filter(pk=attempt.pk).update(cost_limit_usd=cost_limit_usd)
    progress.resume(attempt, judgments_in(attempt))


def retry_errors(attempt: Attempt) -> int:
    """Ask again exactly where no verdict could be had. Returns how often that is.

    Raises:
        NotPossible: There is nothing to retry.
    """
    count = progress.retry_errors(attempt, judgments_in(attempt))
    if not count:
        raise progress.NotPossible("Each answer has a verdict: there is nothing to retry.")
    return count


def counts(attempt: Attempt) -> dict[str, int]:
    """Verdicts by state."""
    return progress.counts(judgments_in(attempt))


def is_complete(attempt: Attempt) -> bool:
    """Whether both halves were judged: what could not be read is counted, not left open."""
    pending = judgments_in(attempt).exclude(state__in=(ItemState.DONE, ItemState.ERROR))
    return attempt.state == BatchState.DONE and not pending.exists()
