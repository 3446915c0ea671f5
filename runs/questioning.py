"""One judge is asked one question: what it said, or why it gave no verdict."""

import asyncio
from functools import partial
from typing import NamedTuple

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.replies import Unreadable, Verdict, echoes, repair_messages
from evalhub.models import Call, CallRole
from evalhub.work.desk import Desk, Reply
from issues.conversation import Message
from issues.prompts import PromptError
from runs.asking import Case, Wording, messages_for, params_for
from runs.mending import mending_messages, mending_schema, read_mended
from runs.models import JudgmentState
from runs.seats import Seat

ECHO, UNREADABLE, UNASKABLE = "echo", "unreadable", "unaskable"
FAILED = JudgmentState.FAILED


class Heard(NamedTuple):
    """What came of asking. Without a verdict it failed, and is no vote.

    `failure` says what happened: the kind of a call's error, or one of the above. `call` is the
    one that it came from; `is_saved` says that this call has been recorded already.
    """

    state: JudgmentState
    verdict: Verdict | None = None
    failure: str = ""
    message: str = ""
    call: Call | None = None
    is_saved: bool = False

    @property
    def calls(self) -> list[Call]:
        """What is to be saved with it."""
        return [self.call] if self.call and not self.is_saved else []


async def hear(
    seat: Seat,
    wording: Wording | None,
    case: Case,
    key: str,
    desk: Desk,
    *,
    mender: Endpoint | None = None,
) -> Heard:
    """Ask a judge about the criterion with this key, and once more where its reply is unreadable.

    Raises what `Desk.call` raises, but for an error of the call itself: that is a failure.

    Args:
        mender: The model that writes down what an unreadable reply says; None: the judge is asked.
    """
    try:
        return await _ask(seat, wording, case, key, desk, mender)
    except CallError as error:
        return Heard(FAILED, None, error.kind.value, error.message)
    except PromptError as error:
        return Heard(FAILED, None, UNASKABLE, str(error))


async def _ask(
    seat: Seat,
    wording: Wording | None,
    case: Case,
    key: str,
    desk: Desk,
    mender: Endpoint | None,
) -> Heard:
    if wording is None:
        raise PromptError(["There is no judge template to ask with: publish or choose one."])
    messages = await _messages(wording, case, key, seat)
    params = params_for(seat.endpoint, seat.params, wording.schema)
    reply = await desk.call(
        seat.endpoint, messages, params, role=CallRole.JUDGE, schema=wording.schema
    )
    first = wording.read(reply.completion.text)
    if isinstance(first, Verdict):
        return _heard(case, first, [reply], JudgmentState.OK)
    if mender and mender.language_model_id != seat.endpoint.language_model_id:
        desk.record(reply.call)
        return await _mended(mender, wording, case, desk, (reply, first))
    if wording.schema is None:  # it cannot be talked to
        return _unreadable(first, reply)
    desk.record(reply.call)
    again = [*messages, *repair_messages(first.reason, wording.schema, reply.completion.text)]
    return await _ask_again(seat, wording, case, desk, again, (reply, first))


async def _messages(wording: Wording, case: Case, key: str, seat: Seat) -> list[Message]:
    """What the judge is asked; made in a thread where the nearest examples are to be found."""
    model = seat.endpoint.language_model_id
    make = partial(messages_for, wording, case, key, language_model_id=model)
    return await asyncio.to_thread(make) if wording.examples.takes_long else make()


async def _mended(
    mender: Endpoint,
    wording: Wording,
    case: Case,
    desk: Desk,
    before: tuple[Reply, Unreadable],
) -> Heard:
    """Let another model write down the verdict of a reply that could not be read.

    The verdict stays the judge's; the call that it comes from is the one that mended it.
    """
    reply, unreadable = before
    options = wording.scale.options
    schema = mending_schema(options)
    messages = mending_messages(unreadable.reason, reply.completion.text, options)
    params = params_for(mender, {}, schema)
    try:
        mended = await desk.call(mender, messages, params, role=CallRole.REPAIR, schema=schema)
    except CallError:
        return _unreadable(unreadable, reply)._replace(is_saved=True)
    verdict = read_mended(mended.completion.text, options)
    if isinstance(verdict, Verdict):
        return _heard(case, verdict, [reply, mended], JudgmentState.REPAIRED)
    return _unreadable(verdict, mended)


async def _ask_again(
    seat: Seat,
    wording: Wording,
    case: Case,
    desk: Desk,
    messages: list[Message],
    before: tuple[Reply, Unreadable],
) -> Heard:
    """Ask once for a verdict in the right form; `before` is the reply that could not be read."""
    schema = wording.schema
    params = params_for(seat.endpoint, seat.params, schema)
    try:
        repair = await desk.call(
            seat.endpoint, messages, params, role=CallRole.REPAIR, schema=schema
        )
    except CallError:
        return _unreadable(before[1], before[0])._replace(is_saved=True)
    second = wording.read(repair.completion.text)
    if isinstance(second, Verdict):
        return _heard(case, second, [before[0], repair], JudgmentState.REPAIRED)
    return _unreadable(second, repair)


def _heard(case: Case, verdict: Verdict, replies: list[Reply], state: JudgmentState) -> Heard:
    last = replies[-1].call
    if any(echoes(reply.completion.text, case.output) for reply in replies):
        message = "The judge repeated a verdict that stands in the answer it was to judge."
        return Heard(FAILED, None, ECHO, message, last)
    return Heard(JudgmentState.REPAIRED if verdict.repaired else state, verdict, call=last)


def _unreadable(unreadable: Unreadable, reply: Reply) -> Heard:
    return Heard(FAILED, None, UNREADABLE, unreadable.reason, reply.call)
