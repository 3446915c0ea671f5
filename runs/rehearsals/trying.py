"""Trying a draft: the judge is asked again about both halves, and nothing else changes."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, QuerySet

from evalhub.digest import digest
from evalhub.models import BatchState, ItemState, User
from evalhub.work import progress
from evalhub.work.queue import request_worker
from issues.examples import problems_of_teaching
from issues.models import JudgeTemplate, TemplateState
from issues.prompts import PromptError
from issues.scales import ScaleError
from runs.asking import messages_for
from runs.judge_load import USUAL_VERDICT, VERDICT_SCHEMA_TOKENS, token_limit
from runs.leaving import Leaving, leaving, refusal
from runs.loads import CHARS_PER_TOKEN, Cost, Load, Span
from runs.rehearsals.content import frozen, tests_of, wording_of
from runs.rehearsals.models import Attempt, Half, Precedent, Rehearsal, Verdict
from runs.rehearsals.starting import RehearsalRefused
from runs.rehearsals.work import case_about, with_texts
from runs.seats import menders_of, snapshot

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
    tokens_in: Span
    tokens_out: Span
    cost: Cost | None
    problems: list[str]
    leaving: Leaving | None


def estimate(rehearsal: Rehearsal, draft: JudgeTemplate) -> Estimate:
    """Calls, tokens and money that trying this draft takes, and what stands against it."""
    content = frozen(draft)
    precedents = asked_about(rehearsal, content)
    problems = problems_of(rehearsal, draft)
    load = _load(rehearsal, content, precedents, draft.pk)
    return Estimate(
        answers=len(precedents),
        left_out=rehearsal.precedents.count() - len(precedents),
        calls=load.calls,
        tokens_in=load.tokens_in,
        tokens_out=load.tokens_out,
        cost=load.cost(),
        problems=problems,
        leaving=leaving_with(rehearsal, draft, precedents),
    )


def leaving_with(
    rehearsal: Rehearsal, draft: JudgeTemplate, precedents: Sequence[int]
) -> Leaving | None:
    """Which sealed tests would be sent outside the trusted network; None: none."""
    rows = Precedent.objects.filter(pk__in=precedents).order_by()
    tests = dict(rows.values_list("result__test", "result__test__sealed"))
    menders = menders_of([draft.pk]).values()
    roles = [("judge", rehearsal.judge.language_model.judge_endpoint())]
    roles += [("repair", mender) for mender in menders]
    return leaving(sorted(pk for pk, is_sealed in tests.items() if is_sealed), len(tests), roles)


def asked_about(rehearsal: Rehearsal, content: dict[str, Any]) -> list[int]:
    """Precedents that a draft is tried on: none of a test that it has an example of."""
    rows = rehearsal.precedents.exclude(result__test__in=tests_of(content)).order_by("pk")
    return list(rows.values_list("pk", flat=True))


def problems_of(rehearsal: Rehearsal, draft: JudgeTemplate) -> list[str]:
    """Why this draft cannot be tried, in words; empty where it can."""
    problems = list(draft_problems(draft))
    model = rehearsal.judge.language_model
    if not model.is_active:
        problems.append(f"{model} is inactive: activate it to ask it again.")
    if draft.family != rehearsal.template.family:
        problems.append(f"{draft} is of another template than {rehearsal.template}.")
    held_out = rehearsal.precedents.filter(half=Half.HELD_OUT)
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
    return problems_of_teaching(draft)


def _load(
    rehearsal: Rehearsal, content: dict[str, Any], precedents: Sequence[int], template_id: int
) -> Load:
    judge = rehearsal.judge
    endpoint = judge.language_model.judge_endpoint()
    asked = len(precedents) * judge.samples
    size = _prompt_tokens(rehearsal, content, precedents, template_id)
    limit = token_limit(judge.params)
    low, high = (min(tokens, limit or tokens) for tokens in USUAL_VERDICT)
    return Load(
        endpoint,
        Span(asked, 2 * asked),
        Span(asked * size, 2 * asked * (size + high)),
        Span(asked * low, 2 * asked * high),
    )


def _prompt_tokens(
    rehearsal: Rehearsal, content: dict[str, Any], precedents: Sequence[int], template_id: int
) -> int:
    """Tokens of one prompt: the mean of some, spread over all; 0 where none can be made."""
    step = max(1, len(precedents) // SAMPLED)
    rows = with_texts(Precedent.objects.filter(pk__in=precedents[::step][:SAMPLED]))
    model = rehearsal.judge.language_model_id
    try:
        wording = wording_of(content, template_id)
        sizes = [
            len(
                str(
                    messages_for(
                        wording, case_about(row), row.criterion.key, language_model_id=model
                    )
                )
            )
            for row in rows
        ]
    except (PromptError, ScaleError):
        return 0
    mean = sum(sizes) // len(sizes) if sizes else 0
    return mean // CHARS_PER_TOKEN + VERDICT_SCHEMA_TOKENS


# Acts --------------------------------------------------------------------------------------------


@transaction.atomic
def try_draft(
    rehearsal: Rehearsal,
    draft: JudgeTemplate,
    *,
    by: User | None,
    cost_limit_usd: Decimal | None = None,
    sealed_may_leave: bool = False,
) -> Attempt:
    """Ask the judge again about both halves with this draft as it is now; a worker does it.

    Args:
        sealed_may_leave: Whether sealed tests may be sent outside the trusted network.

    Raises:
        RehearsalRefused: It cannot be tried, or a try is at work; the message says why.
    """
    locked = Rehearsal.objects.select_for_update(of=("self",)).get(pk=rehearsal.pk)
    draft = JudgeTemplate.objects.get(pk=draft.pk)
    problems = problems_of(locked, draft)
    if locked.attempts.filter(state__in=(BatchState.LIVE, BatchState.PAUSED)).exists():
        problems.append("Another try is at work: wait for it, or cancel it.")
    if cost_limit_usd is not None and not locked.judge.language_model.has_prices:
        problems.append(f"A cost limit needs prices: enter those of {locked.judge.language_model}.")
    content = frozen(draft)
    precedents = asked_about(locked, content)
    problems += refusal(leaving_with(locked, draft, precedents), is_allowed=sealed_may_leave)
    if not precedents:
        problems.append("Nothing is left to be asked about: the draft has all tests as examples.")
    if problems:
        raise RehearsalRefused(*problems)
    attempt = _attempt(locked, draft, content, by, cost_limit_usd)
    Verdict.objects.bulk_create(
        Verdict(attempt=attempt, precedent_id=pk, sample=sample)
        for pk in precedents
        for sample in range(locked.judge.samples)
    )
    request_worker()
    return attempt


def _attempt(
    rehearsal: Rehearsal,
    draft: JudgeTemplate,
    content: dict[str, Any],
    by: User | None,
    cost_limit_usd: Decimal | None,
) -> Attempt:
    last = rehearsal.attempts.aggregate(last=Max("number"))["last"] or 0
    return Attempt.objects.create(
        rehearsal=rehearsal,
        number=last + 1,
        template=draft,
        content=content,
        digest=digest(content),
        seat=seated(rehearsal, draft),
        requested_by=by,
        cost_limit_usd=cost_limit_usd,
    )


def seated(rehearsal: Rehearsal, draft: JudgeTemplate) -> dict[str, Any]:
    """The judge as it is now, with who mends its replies, by copy."""
    mender = menders_of([draft.pk]).get(draft.pk)
    seat = snapshot([rehearsal.judge], None, name=str(rehearsal.judge))
    return {**seat, "mender": mender.to_json() if mender else None}


def verdicts_in(attempt: Attempt) -> QuerySet[Verdict]:
    return Verdict.objects.filter(attempt=attempt)


def cancel(attempt: Attempt) -> None:
    """Ask no more. What was said stays; it can be resumed.

    Raises:
        NotPossible: It is at an end already.
    """
    progress.cancel(attempt, verdicts_in(attempt), reason="Cancelled by a person.")


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
    progress.resume(attempt, verdicts_in(attempt))


def retry_errors(attempt: Attempt) -> int:
    """Ask again exactly where no verdict could be had. Returns how often that is.

    Raises:
        NotPossible: There is nothing to retry.
    """
    count = progress.retry_errors(attempt, verdicts_in(attempt))
    if not count:
        raise progress.NotPossible("Each answer has a verdict: there is nothing to retry.")
    return count


def counts(attempt: Attempt) -> dict[str, int]:
    """Verdicts by state."""
    return progress.counts(verdicts_in(attempt))


def is_complete(attempt: Attempt) -> bool:
    """Whether both halves were judged: what could not be read is counted, not left open."""
    pending = verdicts_in(attempt).exclude(state__in=(ItemState.DONE, ItemState.ERROR))
    return attempt.state == BatchState.DONE and not pending.exists()
