"""Prompts sent to judges, rendered again from frozen rows.

A prompt contains the examples of its template: if the test of one has been sealed since, the whole
prompt is withheld from users who may not read it.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from evalhub.llm.gateway import request_digest
from evalhub.models import Call, CallRole, User
from issues.content.conversation import Message
from issues.judge_templates.examples import hidden_of
from issues.judge_templates.preview import WITHHELD
from issues.judge_templates.prompts import PromptError
from runs.judging.jury import FrozenJudge, frozen_jury_of, prompt_templates_of
from runs.judging.methods import first_request
from runs.judging.prompts import JudgePromptTemplate, examples_for, messages_for
from runs.judging.tasks import judged_answer_of, refuse_removed
from runs.models import JudgeRun, Judgment, Method, Result, ResultScore


@dataclass(frozen=True)
class JudgePrompt:
    """The prompt of one judgment.

    `matches` is whether its digest equals that of the request sent; None without a recorded call.
    `problem` says why it cannot be shown, "" if it can; `note` names deviations from the template.
    """

    messages: list[Message]
    params: dict[str, Any]
    schema: dict[str, Any] | None
    digest: str = ""
    matches: bool | None = None
    problem: str = ""
    note: str = ""


def prompt_of(judgment: Judgment, *, reader: User) -> JudgePrompt:
    """Return the prompt of this judgment."""
    return prompts_of(judgment.judge_run, judgment.result, [judgment], reader=reader)[judgment.pk]


def prompts_of(
    judge_run: JudgeRun, result: Result, judgments: Iterable[Judgment], *, reader: User
) -> dict[int, JudgePrompt]:
    """Return the prompts of judgments of one judge run on one result, by judgment id."""
    judgments = list(judgments)
    judges = {j.judge_id: j for j in frozen_jury_of(judge_run.jury, with_templates=False).everyone}
    own = result.revision.template_id
    used = (judgment.template_id or own for judgment in judgments)
    templates = prompt_templates_of(used, result.revision.template)
    later = {pk for pk, judge in judges.items() if judge.method != Method.SINGLE}
    sent = _sent(judge_run, result, judgments, later)
    prompts = {}
    for judgment in judgments:
        if judge := judges.get(judgment.judge_id or 0):
            template = templates.get(judgment.template_id or own or 0)
            requests = sent.get(judge.endpoint.language_model_id)
            prompts[judgment.pk] = _prompt(
                judge_run, result, judgment, judge, template, requests, reader
            )
    return prompts


def _prompt(
    judge_run: JudgeRun,
    result: Result,
    judgment: Judgment,
    judge: FrozenJudge,
    template: JudgePromptTemplate | None,
    sent: set[str] | None,
    reader: User,
) -> JudgePrompt:
    """Render one prompt; `sent` are the digests of the requests to this model."""
    if template is None:
        return JudgePrompt([], {}, {}, problem="No judge template is known.")
    model, key = judge.endpoint.language_model_id, judgment.criterion.key
    try:
        refuse_removed(result)
        case = judged_answer_of(result, judge_run.run.system_prompt)
        shown = examples_for(template, case, key)
        messages = messages_for(template, case, key, language_model_id=model, role=judge.role)
    except (Result.answer.RelatedObjectDoesNotExist, PromptError) as error:
        return JudgePrompt([], {}, template.schema, problem=str(error))
    if hidden_of(shown.examples, reader):
        return JudgePrompt([], {}, template.schema, problem=WITHHELD)
    first = first_request(judge, template, messages)
    digest = request_digest(judge.endpoint, *first)
    matches = digest in sent if sent else None
    return JudgePrompt(*first, digest, matches, note=shown.note)


def _sent(
    judge_run: JudgeRun, result: Result, judgments: list[Judgment], later: set[int]
) -> dict[int, set[str]]:
    """Return digests of the requests of this judge run on this result, by language model.

    Args:
        later: Judges whose verdict comes from a later call than their prompt.
    """
    calls = [None if judgment.judge_id in later else judgment.call for judgment in judgments]
    sent: dict[int, set[str]] = defaultdict(set)
    for call in calls:
        if call is not None and call.role == CallRole.JUDGE:
            sent[call.language_model_id].add(call.request_digest)
    if any(call is None or call.role != CallRole.JUDGE for call in calls):
        # The judgment keeps a later call, a repair or no call: find the first request by its item,
        # perhaps of another judge run.
        items = ResultScore.objects.filter(judge_run=judge_run, result=result).values("pk")
        found = Q(batch=judge_run.work_key, item_id__in=items)
        for batch, item in {(one.call.batch, one.call.item_id) for one in judgments if one.call}:
            found |= Q(batch=batch, item_id=item)
        rows = Call.objects.filter(found, role=CallRole.JUDGE).order_by()
        for model, text in rows.values_list("language_model_id", "request_digest"):
            sent[model].add(text)
    return sent
