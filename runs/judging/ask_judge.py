"""A request to a judge: its verdict, or the reason why there is none."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.verdicts.judge_replies import (
    ParsedVerdict,
    Unreadable,
    echoes,
    parse_label,
    parse_verdict,
    repair_messages,
    verdict_schema,
)
from evalhub.llm.verdicts.option_matching import Offered
from evalhub.models import Call, CallRole
from evalhub.work.caller import Caller, CallReply
from issues.judge_templates.prompts import PromptError
from runs.judging.jury import FrozenJudge
from runs.judging.methods import (
    AGAIN,
    CHOOSE,
    CRITIQUE,
    DECIDE,
    ENOUGH,
    OPPOSE,
    RATINGS,
    JudgeCall,
    as_reply,
    as_text,
    choice_schema,
    continued,
    first_request,
)
from runs.judging.prompts import JudgedAnswer, JudgePromptTemplate, messages_for, params_for
from runs.judging.repair import repair_model_messages, repair_model_schema
from runs.models import JudgmentState, Method

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
    """Call a judge on the criterion with this key, by its method; repair each reply once.

    If any of its calls fails or stays unreadable, the judgment is failed: no verdict counts that
    the method has not completed. Raises what `Caller.call` raises except `CallError`, which is a
    failure.

    Args:
        repair_model: Repairs an unreadable verdict; None lets the judge repair it.
    """
    try:
        first = await _first_request(frozen_judge, prompt_template, case, key)
        assert prompt_template is not None  # it was rendered
        exchange = _Exchange(frozen_judge, prompt_template, case, caller, repair_model, first)
        return exchange.reply(await METHODS[Method(frozen_judge.method)](exchange))
    except _Failed as failed:
        return failed.reply
    except CallError as error:
        return JudgeReply(FAILED, None, error.kind.value, error.message)
    except PromptError as error:
        return JudgeReply(FAILED, None, UNASKABLE, str(error))


async def _first_request(
    judge: FrozenJudge, template: JudgePromptTemplate | None, case: JudgedAnswer, key: str
) -> JudgeCall:
    if template is None:
        raise PromptError(["There is no judge template: publish or choose one."])
    if template.schema is None and judge.method != Method.SINGLE:
        method = Method(judge.method).label
        raise PromptError(
            [f"Judges with {method} give reasons, but this template wants a label alone."]
        )
    model = judge.endpoint.language_model_id
    make = partial(messages_for, template, case, key, language_model_id=model, role=judge.role)
    # The search for similar examples would block the event loop.
    messages = await asyncio.to_thread(make) if template.examples.takes_long else make()
    return first_request(judge, template, messages)


class _Failed(Exception):
    def __init__(self, reply: JudgeReply) -> None:
        self.reply = reply


class _Read(NamedTuple):
    """A verdict with the call that it comes from."""

    verdict: ParsedVerdict
    state: JudgmentState
    call: Call


@dataclass
class _Exchange:
    """The calls of one judgment. Each is recorded before the next; `last` is not recorded yet."""

    judge: FrozenJudge
    template: JudgePromptTemplate
    case: JudgedAnswer
    caller: Caller
    repair_model: Endpoint | None
    request: JudgeCall
    last: Call | None = None

    @property
    def options(self) -> Sequence[Offered]:
        return self.template.scale.options

    async def ask(self) -> CallReply:
        return await self._call(self.judge.endpoint, self.request, CallRole.JUDGE)

    def go_on(self, reply: str, question: str, schema: dict[str, Any] | None) -> None:
        """Make the next request: the conversation so far, the judge's reply and a question."""
        messages = continued(self.request.messages, reply, question)
        params = params_for(self.judge.endpoint, self.judge.params, schema)
        self.request = JudgeCall(messages, params, schema)

    async def verdict(self, options: Sequence[Offered], *, by_itself: bool = False) -> _Read:
        """Ask for a verdict on these options, and repair it once; raise if there is none.

        Args:
            by_itself: The judge repairs it, whatever the repair model.
        """
        reply = await self.ask()
        schema = self.request.schema
        read = parse_verdict if schema else parse_label
        first = read(reply.completion.text, options)
        if isinstance(first, ParsedVerdict):
            return self._read(first, [reply], JudgmentState.OK)
        repair_model = None if by_itself else self.repair_model
        endpoint = self.judge.endpoint
        if repair_model and repair_model.language_model_id != endpoint.language_model_id:
            # It extracts the verdict, which remains the judge's; the call is that of the repair.
            endpoint, schema = repair_model, repair_model_schema(options)
            messages = repair_model_messages(first.reason, reply.completion.text, options)
            request = JudgeCall(messages, params_for(endpoint, {}, schema), schema)
        elif schema is None:  # it cannot repair its reply
            raise self._unreadable(first, reply)
        else:
            again = repair_messages(first.reason, schema, reply.completion.text)
            request = self.request._replace(messages=[*self.request.messages, *again])
        try:
            repair = await self._call(endpoint, request, CallRole.REPAIR)
        except CallError as error:
            raise self._unreadable(first, reply) from error
        second = parse_verdict(repair.completion.text, options)
        if isinstance(second, ParsedVerdict):
            return self._read(second, [reply, repair], JudgmentState.REPAIRED)
        raise self._unreadable(second, repair)

    def reply(self, read: _Read) -> JudgeReply:
        """Return the reply with this verdict; its call may not be the last."""
        if read.call is not self.last:
            self._record()
        return JudgeReply(read.state, read.verdict, call=read.call, is_saved=self.last is None)

    async def _call(self, endpoint: Endpoint, request: JudgeCall, role: CallRole) -> CallReply:
        self._record()
        messages, params, schema = request
        reply = await self.caller.call(endpoint, messages, params, role=role, schema=schema)
        self.last = reply.call
        return reply

    def _record(self) -> None:
        if self.last is not None:
            self.caller.record(self.last)
        self.last = None

    def _read(
        self, verdict: ParsedVerdict, replies: list[CallReply], state: JudgmentState
    ) -> _Read:
        last = replies[-1].call
        if any(echoes(reply.completion.text, self.case.output) for reply in replies):
            message = "The judge repeated a verdict from the answer under judgment."
            raise _Failed(JudgeReply(FAILED, None, ECHO, message, last))
        return _Read(verdict, JudgmentState.REPAIRED if verdict.repaired else state, last)

    def _unreadable(self, unreadable: Unreadable, reply: CallReply) -> _Failed:
        is_saved = self.last is None
        failed = JudgeReply(FAILED, None, UNREADABLE, unreadable.reason, reply.call, is_saved)
        return _Failed(failed)


# Methods -----------------------------------------------------------------------------------------


async def _single(exchange: _Exchange) -> _Read:
    return await exchange.verdict(exchange.options)


async def _self_critique(exchange: _Exchange) -> _Read:
    """Judge, rate the judgment, and judge once more if the rating is low."""
    options, schema = exchange.options, exchange.request.schema
    first = await exchange.verdict(options)
    critique = as_text(CRITIQUE, RATINGS)
    exchange.go_on(as_reply(first.verdict), critique, verdict_schema(RATINGS))
    rating = (await exchange.verdict(RATINGS)).verdict
    if rating.value >= ENOUGH:
        return first
    exchange.go_on(as_reply(rating), as_text(AGAIN, options), schema)
    return await exchange.verdict(options)


async def _debate(exchange: _Exchange) -> _Read:
    """Argue for every option and choose; if unsure, argue against both and decide."""
    options = exchange.options
    arguments = await exchange.ask()
    exchange.go_on(arguments.completion.text, as_text(CHOOSE, options), choice_schema(options))
    chosen = await exchange.verdict(options, by_itself=True)
    verdict = chosen.verdict
    if not verdict.alternative:
        return chosen
    both = [o for o in options if o.label in (verdict.option, verdict.alternative)]
    exchange.go_on(as_reply(verdict), as_text(OPPOSE, both), None)
    objections = await exchange.ask()
    exchange.go_on(objections.completion.text, as_text(DECIDE, both), verdict_schema(both))
    return await exchange.verdict(both)


METHODS = {Method.SINGLE: _single, Method.SELF_CRITIQUE: _self_critique, Method.DEBATE: _debate}
