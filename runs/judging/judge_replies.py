"""A request to a judge: its verdict, or the reason why there is none."""

import asyncio
from functools import partial
from typing import NamedTuple

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.judge_replies import ParsedVerdict, Unreadable, echoes, repair_messages
from evalhub.models import Call, CallRole
from evalhub.work.caller import CallReply, ModelCaller
from issues.conversation import Message
from issues.judge_templates.prompts import PromptError
from runs.judging.jury import FrozenJudge
from runs.judging.prompts import JudgedAnswer, JudgePromptTemplate, messages_for, params_for
from runs.judging.repair import read_repaired, repair_model_messages, repair_model_schema
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
    caller: ModelCaller,
    *,
    repair_model: Endpoint | None = None,
) -> JudgeReply:
    """Call a judge on the criterion with this key, and repair an unreadable reply once.

    Raises what `ModelCaller.call` raises except `CallError`, which is a failure.

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
    caller: ModelCaller,
    repair_model: Endpoint | None,
) -> JudgeReply:
    if prompt_template is None:
        raise PromptError(["There is no judge template: publish or choose one."])
    messages = await _messages(prompt_template, case, key, frozen_judge)
    params = params_for(frozen_judge.endpoint, frozen_judge.params, prompt_template.schema)
    reply = await caller.call(
        frozen_judge.endpoint, messages, params, role=CallRole.JUDGE, schema=prompt_template.schema
    )
    first = prompt_template.read(reply.completion.text)
    if isinstance(first, ParsedVerdict):
        return _judge_reply(case, first, [reply], JudgmentState.OK)
    if repair_model and repair_model.language_model_id != frozen_judge.endpoint.language_model_id:
        caller.record(reply.call)
        return await _repaired(repair_model, prompt_template, case, caller, (reply, first))
    if prompt_template.schema is None:  # it cannot repair its reply
        return _unreadable(first, reply)
    caller.record(reply.call)
    again = [
        *messages,
        *repair_messages(first.reason, prompt_template.schema, reply.completion.text),
    ]
    return await _ask_again(frozen_judge, prompt_template, case, caller, again, (reply, first))


async def _messages(
    prompt_template: JudgePromptTemplate, case: JudgedAnswer, key: str, frozen_judge: FrozenJudge
) -> list[Message]:
    """Return the judge's messages; make them in a thread if similar examples are searched."""
    model = frozen_judge.endpoint.language_model_id
    make = partial(messages_for, prompt_template, case, key, language_model_id=model)
    return await asyncio.to_thread(make) if prompt_template.examples.takes_long else make()


async def _repaired(
    repair_model: Endpoint,
    prompt_template: JudgePromptTemplate,
    case: JudgedAnswer,
    caller: ModelCaller,
    before: tuple[CallReply, Unreadable],
) -> JudgeReply:
    """Let the repair model extract the verdict of an unreadable reply.

    The verdict remains the judge's; its call is that of the repair.
    """
    reply, unreadable = before
    options = prompt_template.scale.options
    schema = repair_model_schema(options)
    messages = repair_model_messages(unreadable.reason, reply.completion.text, options)
    params = params_for(repair_model, {}, schema)
    try:
        repaired = await caller.call(
            repair_model, messages, params, role=CallRole.REPAIR, schema=schema
        )
    except CallError:
        return _unreadable(unreadable, reply)._replace(is_saved=True)
    verdict = read_repaired(repaired.completion.text, options)
    if isinstance(verdict, ParsedVerdict):
        return _judge_reply(case, verdict, [reply, repaired], JudgmentState.REPAIRED)
    return _unreadable(verdict, repaired)


async def _ask_again(
    frozen_judge: FrozenJudge,
    prompt_template: JudgePromptTemplate,
    case: JudgedAnswer,
    caller: ModelCaller,
    messages: list[Message],
    before: tuple[CallReply, Unreadable],
) -> JudgeReply:
    """Ask once more for a verdict in the right form; `before` is the unreadable reply."""
    schema = prompt_template.schema
    params = params_for(frozen_judge.endpoint, frozen_judge.params, schema)
    try:
        repair = await caller.call(
            frozen_judge.endpoint, messages, params, role=CallRole.REPAIR, schema=schema
        )
    except CallError:
        return _unreadable(before[1], before[0])._replace(is_saved=True)
    second = prompt_template.read(repair.completion.text)
    if isinstance(second, ParsedVerdict):
        return _judge_reply(case, second, [before[0], repair], JudgmentState.REPAIRED)
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
