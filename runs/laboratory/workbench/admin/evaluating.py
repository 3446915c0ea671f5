"""Evaluation as a stream of events, with consent to send sealed tests."""

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

from django.http import StreamingHttpResponse

from evalhub.access.sealed_exposure import consent_asked, record_sendings
from evalhub.models import User
from evalhub.refusals import Refused
from issues.content.conversation import Message
from issues.judge_templates.examples import hidden_of
from issues.judge_templates.preview import WITHHELD
from runs.judging.jury import FrozenJudge
from runs.judging.methods import first_request
from runs.judging.prompts import examples_for
from runs.laboratory.playground.event_stream import Event, line, streamed_response
from runs.laboratory.workbench.evaluation import Evaluation, lines_of
from runs.laboratory.workbench.requests import BenchRequest, prompt_of

TRY_TEST = "issues.try_test"


def evaluated(
    wanted: Callable[[], Evaluation],
    user: User,
    *,
    consent: str,
    shown: Callable[[set[int]], Event],
    at_end: Callable[[], Event],
) -> StreamingHttpResponse:
    """Stream what the evaluation says; `wanted` returns it or raises `Refused`."""
    try:
        evaluation = wanted()
    except Refused as error:
        return streamed_response([line({"error": " ".join(error.problems)})])
    if not evaluation.requests:
        return streamed_response([line(at_end() | {"progress": evaluation.nothing})])
    roles = evaluation.setup.roles
    if asked := consent_asked(evaluation.sealed, evaluation.tests, roles, consent):
        return streamed_response([line(asked)])
    record_sendings(evaluation.sealed, roles, by=user)
    return streamed_response(lines_of(evaluation, user, shown=shown, at_end=at_end))


class ShownPrompt(NamedTuple):
    """A prompt as sent; `problem` says why it is not shown, "" if it is."""

    title: str
    messages: list[Message]
    params: str
    problem: str


def prompts_of(requests: Sequence[BenchRequest], user: User) -> list[ShownPrompt]:
    """Return each different prompt about a row, withheld if it has an example of a hidden test."""
    found: dict[str, ShownPrompt] = {}
    for request in requests:
        if request.judge is not None and request.digest not in found:
            found[request.digest] = _prompt(request, request.judge, user)
    return list(found.values())


def _prompt(request: BenchRequest, judge: FrozenJudge, user: User) -> ShownPrompt:
    template, key = request.template, request.place.key
    order = ", options reversed" if request.place.order else ""
    about = f": {request.point}" if key else ""
    title = f"{judge.name}{about}{order}"
    messages = prompt_of(judge, template, request.case, key)
    if template is None or isinstance(messages, str):
        return ShownPrompt(title, [], "", str(messages))
    if hidden_of(examples_for(template, request.case, key).examples, user):
        return ShownPrompt(title, [], "", WITHHELD)
    first = first_request(judge, template, messages)
    return ShownPrompt(title, first.messages, json.dumps(first.params), "")
