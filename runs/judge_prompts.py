"""The exact prompts with which judges were asked, rendered again from frozen rows."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evalhub.llm.gateway import request_digest
from evalhub.models import Call, CallRole
from issues.conversation import Message
from issues.prompts import PromptError
from runs.asking import Wording, messages_for, params_for
from runs.hearing import case_of
from runs.models import Assessment, Judging, Judgment, Result
from runs.seats import Seat, panel_of


@dataclass(frozen=True)
class JudgePrompt:
    """What one judge was asked.

    `matches` says whether its digest is that of the request that was sent; None: no call was
    recorded to compare with. `problem` says why it could not be rendered ("" where it was).
    """

    messages: list[Message]
    params: dict[str, Any]
    schema: dict[str, Any] | None
    digest: str = ""
    matches: bool | None = None
    problem: str = ""


def prompt_of(judgment: Judgment) -> JudgePrompt:
    """The prompt that led to this judgment."""
    return prompts_of(judgment.judging, judgment.result, [judgment])[judgment.pk]


def prompts_of(
    judging: Judging, result: Result, judgments: Iterable[Judgment]
) -> dict[int, JudgePrompt]:
    """Prompts of some judgments of one judging on one result, by the judgment's id."""
    judgments = list(judgments)
    seats = {seat.judge_id: seat for seat in panel_of(judging).everyone}
    sent = _sent(judging, result, judgments)
    return {
        judgment.pk: _prompt(judgment, seats[judgment.judge_id], judging, result, sent)
        for judgment in judgments
        if judgment.judge_id in seats
    }


def _prompt(
    judgment: Judgment, seat: Seat, judging: Judging, result: Result, sent: dict[int, set[str]]
) -> JudgePrompt:
    template = judgment.template or result.revision.template
    wording = Wording.of(template) if template else None
    if wording is None:
        return JudgePrompt([], {}, {}, problem="No judge template is known.")
    try:
        case = case_of(result, judging.run.system_prompt)
        messages = messages_for(wording, case, judgment.criterion.key)
    except (Result.answer.RelatedObjectDoesNotExist, PromptError) as error:
        return JudgePrompt([], {}, wording.schema, problem=str(error))
    params = params_for(seat.endpoint, seat.params, wording.schema)
    digest = request_digest(seat.endpoint, messages, params, wording.schema)
    digests = sent.get(seat.endpoint.language_model_id)
    matches = digest in digests if digests else None
    return JudgePrompt(messages, params, wording.schema, digest, matches)


def _sent(judging: Judging, result: Result, judgments: list[Judgment]) -> dict[int, set[str]]:
    """Digests of the requests that this judging sent for this result, by language model."""
    calls = [judgment.call for judgment in judgments]
    sent: dict[int, set[str]] = defaultdict(set)
    for call in calls:
        if call is not None and call.role == CallRole.JUDGE:
            sent[call.language_model_id].add(call.request_digest)
    if any(call is None or call.role != CallRole.JUDGE for call in calls):
        # A repair, or nothing, was kept with the judgment: the first request is found by its item.
        items = Assessment.objects.filter(judging=judging, result=result).values("pk")
        rows = Call.objects.filter(batch=judging.work_key, item_id__in=items, role=CallRole.JUDGE)
        for model, text in rows.values_list("language_model_id", "request_digest"):
            sent[model].add(text)
    return sent
