"""Answers of a judge to a question about its prompt, while a person waits."""

import json
from functools import partial
from typing import NamedTuple

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.models import CallRole, User
from evalhub.work.direct_caller import DirectCaller
from evalhub.work.errors import GivenBack
from runs.laboratory.playground.direct_calls import caller_of, cost_words, over_limit, save_calls
from runs.laboratory.playground.event_stream import Emit, streamed


class JudgeAnswer(NamedTuple):
    """The judge's words, or the error in place of them; `cost` in words."""

    text: str = ""
    error: str = ""
    cost: str = ""


def answer_of(endpoint: Endpoint, message: str, *, by: User) -> JudgeAnswer:
    """Ask a judge, within what this person may spend on tries today; the call is recorded."""
    caller = caller_of(by, [("judge", endpoint)], item_id=None)
    found: dict[str, str] = {}
    work = partial(_ask, endpoint, message, caller)
    for line in streamed(work, at_end=partial(save_calls, caller)):
        found |= json.loads(line) if line.strip() else {}
    return JudgeAnswer(**found)


async def _ask(endpoint: Endpoint, message: str, caller: DirectCaller, emit: Emit) -> None:
    messages = [{"role": "user", "content": message}]
    try:
        reply = await caller.call(endpoint, messages, {}, role=CallRole.JUDGE)
        emit({"text": reply.completion.text})
    except CallError as error:
        emit({"error": error.message})
    except GivenBack:
        emit({"error": over_limit()})
    emit({"cost": cost_words(caller.calls)})
