"""Acts on a test as typed: the models to ask, the tests whose text they get, and the work."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.http import QueryDict
from django.template.loader import render_to_string

from evalhub.admin_site.pages import row_number
from evalhub.display.formatting import counted
from evalhub.models import LanguageModel, User
from evalhub.refusals import Refused
from evalhub.work.calls.direct_caller import DirectCaller
from issues.content.test_texts import first_words
from issues.judge_templates.prompts import PromptError
from issues.models import Issue, JudgeTemplate, TemplateState, Test
from issues.models.template import is_criterion_template
from issues.rubrics.draft import Draft, draft_of_test
from issues.rubrics.scales import from_json
from issues.rubrics.siblings import siblings_of
from runs.judging.jury import frozen_jury_of, prompt_templates_of, snapshot
from runs.judging.jury_builder import JuryBuilder
from runs.judging.tasks import readable_sealed_among
from runs.laboratory.direct_calls import CallingWork, Try
from runs.laboratory.event_stream import Emit
from runs.laboratory.judging import Answer, Judging, replied, written
from runs.laboratory.playground.asking import ask, write_reference
from runs.launching.exposure import roles_of_jury
from runs.limits import MAX_TRY_CALLS
from runs.models import Approach, Jury

MAX_REPLY = 1_000_000
"""Characters of a reply that comes back to be judged."""


@dataclass
class Act(Try):
    """A try of a test as typed, with the work to do."""

    work: CallingWork


def act_of(sent: QueryDict, draft: Draft, test: Test | None, user: User) -> Act:
    """Return what a sent form asks for; raise Refused with what is missing."""
    if draft.input_problems:
        raise Refused(list(draft.input_problems))
    if sent.get("try-act") == "judge":
        return _judging(sent, draft, test, user)
    is_question = sent.get("try-act") != "draft"
    model = _model(sent.get("try-model"))
    if model.is_application and not is_question:
        raise Refused([f"{model} is an HTTP application: choose a language model to write."])
    work, role = (ask, "candidate") if is_question else (write_reference, "generator")
    endpoint = model.endpoint()
    sealed = [test.pk] if test and test.sealed else []
    return Act([(role, endpoint)], sealed, 1, partial(work, draft, endpoint))


def _model(number: str | None) -> LanguageModel:
    model = LanguageModel.objects.active().filter(pk=row_number(number)).first()
    if model is None:
        raise Refused(["Choose a model. It may have been deactivated since this page was opened."])
    return model


# Judging -----------------------------------------------------------------------------------------


def _judging(sent: QueryDict, draft: Draft, test: Test | None, user: User) -> Act:
    if draft.problems:
        raise Refused(draft.problems)
    answers = _answers(sent, draft, test, user)
    drafts = [answer.draft for answer in answers]
    own = {each.template.pk for each in drafts if each.template}
    chosen, jury = _jury(sent, draft, own)
    templates = prompt_templates_of(own)
    scale = from_json(chosen.scale) if chosen and not draft.points else None
    judging = Judging(frozen_jury_of(jury), templates, scale)
    calls = sum(map(judging.calls, drafts))
    if calls > MAX_TRY_CALLS:
        message = f"This would take {calls} calls; one try may take {MAX_TRY_CALLS}."
        raise Refused([f"{message} Choose a smaller jury, or fewer answers."])
    tests = {each.test_id for each in drafts}
    used = [judging.template_of(j, d) for d in drafts for j in judging.jury.everyone]
    shown = set().union(*(template.example_tests for template in used if template))
    sent_tests = {pk for pk in (*tests, *shown) if pk}
    pks = readable_sealed_among(sent_tests, user)
    return Act(roles_of_jury(jury), pks, len(tests | set(pks)), partial(_judge, judging, answers))


def _answers(sent: QueryDict, draft: Draft, test: Test | None, user: User) -> list[Answer]:
    kinds = sent.getlist("try-answers")
    answers = written(draft, kinds)
    if "reply" in kinds and (reply := _reply(sent)):
        found = replied(draft, reply)
        if found is None:
            raise Refused(["The input was changed after the reply. Ask the model again."])
        answers.insert(0, found)
    if "siblings" in kinds:
        for sibling in siblings(sent, test, user):
            of = f" of test {sibling.pk}: {first_words(sibling.messages)}"
            answers += written(draft_of_test(sibling), ("flagged", "reference"), of=of)
    if not answers:
        raise Refused(
            ["There is nothing to judge: ask a model, or enter a flagged or reference answer."]
        )
    return answers


def siblings(sent: QueryDict, test: Test | None, user: User) -> list[Test]:
    """Return the other tests of the chosen issue; sealed ones only beside a sealed test."""
    issue = Issue.objects.filter(pk=row_number(sent.get("issue"))).first()
    return siblings_of(issue, user, beside=test) if issue else []


def _reply(sent: QueryDict) -> dict[str, Any]:
    try:
        reply = json.loads(sent.get("try-reply", "")[:MAX_REPLY] or "{}")
    except (ValueError, RecursionError):
        return {}
    return reply if isinstance(reply, dict) else {}


def _jury(
    sent: QueryDict, draft: Draft, own: Iterable[int]
) -> tuple[JudgeTemplate | None, dict[str, Any]]:
    """Return the template chosen for a single model, and the snapshot of the jury."""
    kind, _, number = sent.get("try-jury", "").partition("-")
    if kind == "jury":
        jury = Jury.objects.filter(pk=row_number(number), is_active=True).first()
        if jury is None:
            raise Refused(["Choose a jury. It may have been deactivated since."])
        judges = list(jury.judges.select_related("language_model", "template"))
        return None, snapshot(judges, None, name=str(jury), templates=own)
    if kind != "model":
        raise Refused(["Choose a jury or a model to judge."])
    template = _template(sent.get("try-template"), draft)
    is_rubric = bool(draft.points)
    builder = JuryBuilder(
        models=[_model(number)],
        approaches=(Approach.TEMPLATE, Approach.PROMPT_AWARE),
        whole=None if is_rubric else template,
        rubric=template if is_rubric else None,
    )
    return template, snapshot(builder.drafts(), None, name="", templates=own)


def _template(number: str | None, draft: Draft) -> JudgeTemplate | None:
    """Return the chosen judge template; None: the test's own."""
    if not number:
        return None
    published = JudgeTemplate.objects.filter(state=TemplateState.PUBLISHED)
    template = published.filter(pk=row_number(number)).first()
    if template is None:
        raise Refused(["Choose a published judge template."])
    try:
        is_for_criteria = is_criterion_template(template.text)
    except PromptError as error:
        raise Refused(error.problems) from error
    if is_for_criteria != bool(draft.points):
        judges = "single criteria" if is_for_criteria else "whole tests"
        has = "a rubric" if draft.points else "no rubric"
        raise Refused([f"“{template}” judges {judges}, but this test has {has}."])
    return template


async def _judge(judging: Judging, answers: list[Answer], caller: DirectCaller, emit: Emit) -> None:
    """Judge the answers one after the other, so that the first is readable soonest."""
    agreed: list[bool] = []
    for number, answer in enumerate(answers, 1):
        emit({"judging": f"Judging {number} of {len(answers)} …"})
        scored = await judging.judge(answer, caller)
        template = "runs/laboratory/playground/scored_answer.html"
        emit({"html": render_to_string(template, {"scored": scored})})
        if scored.is_as_expected is not None:
            agreed.append(scored.is_as_expected)
    if agreed:
        known = counted(len(agreed), "flagged or reference answer")
        emit({"summary": f"As expected: {sum(agreed)} of {known} scored."})
