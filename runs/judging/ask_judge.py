"""A request to a judge: its verdict, or the reason why there is none."""

import asyncio
from functools import partial
from typing import NamedTuple

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.judge_replies import (
    ParsedVerdict,
    Unreadable,
    echoes,
    parse_verdict,
    repair_messages,
)
from evalhub.models import Call, CallRole
from evalhub.work.caller import Caller, CallReply
from issues.judge_templates.prompts import PromptError
from runs.judging.jury import FrozenJudge
from runs.judging.prompts import JudgedAnswer, JudgePromptTemplate, messages_for, params_for
from runs.judging.repair import repair_model_messages, repair_model_schema
from runs.models import JudgmentState

ECHO, UNREADABLE, UNASKABLE = "echo", "unreadable", "unaskable"
FAILED = JudgmentState.FAILED


class JudgeReply(NamedTuple):
    """Outcome of a request. Without a verdict it failed and does not count.

    `failure` is the kind of a call's error, or one of the above. `call` is the call that the
    verdict comes from; `is_saved` means that it has been recorded already.
    """

    state: JudgmentState
    verdict: ParsedVerdict | None = None
    failure: str = ""
    message: str = ""
    call: Call | None = None
    is_saved: bool = False

    @property
    def calls(self) -> list[Call]:
        """Return the calls to save with it."""
        return [self.call] if self.call and not self.is_saved else []


async def ask_judge(
    frozen_judge: FrozenJudge,
    prompt_template: JudgePromptTemplate | None,
    case: JudgedAnswer,
    key: str,
    caller: Caller,
    *,
    repair_model: Endpoint | None = None,
) -> JudgeReply:
    """Call a judge on the criterion with this key, and repair an unreadable reply once.

    Raises what `Caller.call` raises except `CallError`, which is a failure.

    Args:
        repair_model: Repairs an unreadable reply; None lets the judge repair it.
    """
    try:
        return await _ask(frozen_judge, prompt_template, case, key, caller, repair_model)
    except CallError as error:
        return JudgeReply(FAILED, None, error.kind.value, error.message)
    except PromptError as error:
        return JudgeReply(FAILED, None, UNASKABLE, str(error))


async def _ask(
    frozen_judge: FrozenJudge,
    prompt_template: JudgePromptTemplate | None,
    case: JudgedAnswer,
    key: str,
    caller: Caller,
    repair_model: Endpoint | None,
) -> JudgeReply:
    if prompt_template is None:
        raise PromptError(["There is no judge template: publish or choose one."])
    endpoint, schema = frozen_judge.endpoint, prompt_template.schema
    model, options = endpoint.language_model_id, prompt_template.scale.options
    make = partial(messages_for, prompt_template, case, key, language_model_id=model)
    # The search for similar examples would block the event loop.
    messages = await asyncio.to_thread(make) if prompt_template.examples.takes_long else make()
    params = params_for(endpoint, frozen_judge.params, schema)
    reply = await caller.call(endpoint, messages, params, role=CallRole.JUDGE, schema=schema)
    first = prompt_template.read(reply.completion.text)
    if isinstance(first, ParsedVerdict):
        return _judge_reply(case, first, [reply], JudgmentState.OK)
    if repair_model and repair_model.language_model_id != model:
        # It extracts the verdict, which remains the judge's; the call is that of the repair.
        endpoint, schema = repair_model, repair_model_schema(options)
        messages = repair_model_messages(first.reason, reply.completion.text, options)
        params = params_for(endpoint, {}, schema)
    elif schema is None:  # it cannot repair its reply
        return _unreadable(first, reply)
    else:
        messages = [*messages, *repair_messages(first.reason, schema, reply.completion.text)]
    caller.record(reply.call)
    try:
        repair = await caller.call(endpoint, messages, params, role=CallRole.REPAIR, schema=schema)
    except CallError:
        return _unreadable(first, reply)._replace(is_saved=True)
    second = parse_verdict(repair.completion.text, options)
    if isinstance(second, ParsedVerdict):
        return _judge_reply(case, second, [reply, repair], JudgmentState.REPAIRED)
    return _unreadable(second, repair)


def _judge_reply(
    case: JudgedAnswer, verdict: ParsedVerdict, replies: list[CallReply], state: JudgmentState
) -> JudgeReply:
    last = replies[-1].call
    if any(echoes(reply.completion.text, case.output) for reply in replies):
        message = "The judge repeated a verdict from the answer under judgment."
        return JudgeReply(FAILED, None, ECHO, message, last)
    return JudgeReply(JudgmentState.REPAIRED if verdict.repaired else state, verdict, call=last)


def _unreadable(unreadable: Unreadable, reply: CallReply) -> JudgeReply:
    return JudgeReply(FAILED, None, UNREADABLE, unreadable.reason, reply.call)
