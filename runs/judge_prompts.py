"""The exact prompts with which judges were asked, rendered again from frozen rows.

A prompt holds the examples of its template: where the test of one was sealed since, the whole
prompt is withheld from those who may not read it.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evalhub.llm.gateway import request_digest
from evalhub.models import Call, CallRole, User
from issues.conversation import Message
from issues.examples import hidden_of
from issues.preview import WITHHELD
from issues.prompts import PromptError
from runs.asking import Wording, examples_for, messages_for, params_for
from runs.hearing import case_of
from runs.models import Assessment, Judging, Judgment, Result
from runs.seats import Seat, seating_of, with_teaching


@dataclass(frozen=True)
class JudgePrompt:
    """What one judge was asked.

    `matches` says whether its digest is that of the request that was sent; None: no call was
    recorded to compare with. `problem` says why it could not be rendered or shown ("" where it
    was), `note` what had to be done instead of what the template says.
    """

    messages: list[Message]
    params: dict[str, Any]
    schema: dict[str, Any] | None
    digest: str = ""
    matches: bool | None = None
    problem: str = ""
    note: str = ""


@dataclass(frozen=True)
class _Asked:
    """What the prompts of one judging on one result are made of."""

    judging: Judging
    result: Result
    wordings: dict[int, Wording]
    sent: dict[int, set[str]]
    reader: User

    def wording_of(self, judgment: Judgment) -> Wording | None:
        pk = judgment.template_id or self.result.revision.template_id
        return self.wordings.get(pk) if pk else None


def prompt_of(judgment: Judgment, *, reader: User) -> JudgePrompt:
    """The prompt that led to this judgment."""
    return prompts_of(judgment.judging, judgment.result, [judgment], reader=reader)[judgment.pk]


def prompts_of(
    judging: Judging, result: Result, judgments: Iterable[Judgment], *, reader: User
) -> dict[int, JudgePrompt]:
    """Prompts of some judgments of one judging on one result, by the judgment's id."""
    judgments = list(judgments)
    seats = {seat.judge_id: seat for seat in seating_of(judging).everyone}
    ids = [judgment.template_id or result.revision.template_id or 0 for judgment in judgments]
    wordings = {t.pk: Wording.of(t) for t in with_teaching().filter(pk__in=ids)}
    asked = _Asked(judging, result, wordings, _sent(judging, result, judgments), reader)
    return {
        judgment.pk: _prompt(judgment, seats[judgment.judge_id], asked)
        for judgment in judgments
        if judgment.judge_id in seats
    }


def _prompt(judgment: Judgment, seat: Seat, asked: _Asked) -> JudgePrompt:
    wording = asked.wording_of(judgment)
    if wording is None:
        return JudgePrompt([], {}, {}, problem="No judge template is known.")
    model, key = seat.endpoint.language_model_id, judgment.criterion.key
    try:
        case = case_of(asked.result, asked.judging.run.system_prompt)
        shown = examples_for(wording, case, key)
        messages = messages_for(wording, case, key, language_model_id=model)
    except (Result.answer.RelatedObjectDoesNotExist, PromptError) as error:
        return JudgePrompt([], {}, wording.schema, problem=str(error))
    if hidden_of(shown.examples, asked.reader):
        return JudgePrompt([], {}, wording.schema, problem=WITHHELD)
    params = params_for(seat.endpoint, seat.params, wording.schema)
    digest = request_digest(seat.endpoint, messages, params, wording.schema)
    digests = asked.sent.get(model)
    matches = digest in digests if digests else None
    return JudgePrompt(messages, params, wording.schema, digest, matches, note=shown.note)


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
