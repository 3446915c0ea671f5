"""The exact prompts about a row, as far as a user may read them."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from evalhub.models import User
from issues.content.conversation import Message
from issues.judge_templates.examples import hidden_of
from issues.judge_templates.preview import WITHHELD
from runs.judging.jury import FrozenJudge
from runs.judging.methods import first_request
from runs.judging.prompts import examples_for
from runs.laboratory.workbench.requests import BenchRequest, prompt_of


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
