"""A request to a judge for the better of two answers; it knows nothing of runs."""

from typing import NamedTuple

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.verdicts.judge_replies import Unreadable, repair_messages
from evalhub.models import Call, CallRole
from evalhub.work.caller import Caller, CallReply
from issues.judge_templates.pairwise_prompt import (
    PairCase,
    PairVerdict,
    pair_messages,
    pair_schema,
    read_pair,
)
from runs.judging.ask_judge import UNASKABLE, UNREADABLE
from runs.judging.prompts import params_for


class PairReply(NamedTuple):
    """Outcome of a request. Without a verdict it failed, which is never a tie.

    `failure` is the kind of a call's error, "unreadable" or "unaskable". `call` is the one that the
    verdict comes from; `is_saved` means that it has been recorded already.
    """

    verdict: PairVerdict | None
    failure: str = ""
    message: str = ""
    call: Call | None = None
    is_saved: bool = False
    was_repaired: bool = False

    @property
    def calls(self) -> list[Call]:
        """Return the calls to save with it."""
        return [self.call] if self.call and not self.is_saved else []


async def ask_pair(endpoint: Endpoint, case: PairCase, caller: Caller, *, ties: bool) -> PairReply:
    """Ask which answer of the case is better, and let an unreadable reply be repaired once.

    Ask again with `case.reversed()`, and take both together (`pairwise_prompt.decided`).
    Raises what `Caller.call` raises except `CallError`, which is a failure.
    """
    try:
        messages = pair_messages(case, ties=ties)
    except ValueError as error:
        return PairReply(None, UNASKABLE, str(error))
    schema = pair_schema(ties=ties)
    params = params_for(endpoint, {}, schema)
    try:
        reply = await caller.call(endpoint, messages, params, role=CallRole.JUDGE, schema=schema)
    except CallError as error:
        return PairReply(None, error.kind.value, error.message)
    first = read_pair(reply.completion.text, case, ties=ties)
    if isinstance(first, PairVerdict):
        return PairReply(first, call=reply.call, was_repaired=first.repaired)
    caller.record(reply.call)
    again = repair_messages(first.reason, schema, reply.completion.text)
    try:
        repair = await caller.call(
            endpoint, [*messages, *again], params, role=CallRole.REPAIR, schema=schema
        )
    except CallError:
        return _unreadable(first, reply)._replace(is_saved=True)
    second = read_pair(repair.completion.text, case, ties=ties)
    if isinstance(second, PairVerdict):
        return PairReply(second, call=repair.call, was_repaired=True)
    return _unreadable(second, repair)


def _unreadable(found: Unreadable, reply: CallReply) -> PairReply:
    return PairReply(None, UNREADABLE, found.reason, reply.call)
