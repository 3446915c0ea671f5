"""A request to a judge: its verdict, or the reason why there is none."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.verdicts.judge_params import params_for
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
from evalhub.work.calls.caller import Caller, CallReply
from evalhub.work.spending import cost_of_item
from issues import checks
from issues.checks import CHECKS, Material
from issues.judge_templates.pairwise_prompt import (
    PairCase,
    PairVerdict,
    pair_messages,
    pair_schema,
    read_pair,
)
from issues.judge_templates.prompts import PromptError, turn_text
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
from runs.judging.prompts import JudgedAnswer, JudgePromptTemplate, messages_for
from runs.judging.repair import repair_model_messages, repair_model_schema
from runs.models import JudgmentState, Method
from runs.scoring.coverage_rule import CANNOT_RUN, CANNOT_TELL

ECHO, UNREADABLE, UNASKABLE = "echo", "unreadable", "unaskable"
CHECK_ERROR = "check_error"
QUOTED = 300
"""Characters of a reply that a message repeats."""


class Verdict(Protocol):
    """A verdict that was read from a reply; `repaired`: its JSON had errors."""

    @property
    def justification(self) -> str: ...
    @property
    def repaired(self) -> bool: ...


V = TypeVar("V", bound=Verdict)
Parser = Callable[[str, dict[str, Any] | None], V | Unreadable]
"""Parses the verdict from a reply to a request with this schema."""


class JudgeReply(NamedTuple, Generic[V]):
    """Outcome of a request. Without a verdict it failed and does not count.

    `failure` is the kind of a call's error, or one of the above. `call` is the call that the
    verdict comes from; `is_saved` means that it has been recorded already. `cost_usd` is that of
    all calls for the verdict, tries and repairs included; None: unknown, or none.
    """

    verdict: V | None = None
    failure: str = ""
    message: str = ""
    call: Call | None = None
    is_saved: bool = False
    was_repaired: bool = False
    cost_usd: Decimal | None = None

    @property
    def state(self) -> JudgmentState:
        if self.verdict is None:
            return JudgmentState.FAILED
        return JudgmentState.REPAIRED if self.was_repaired else JudgmentState.OK

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
    first: JudgeCall | None = None,
) -> JudgeReply[ParsedVerdict]:
    """Call a judge on the criterion with this key, by its method; repair each reply once.

    If any of its calls fails or stays unreadable, the judgment is failed: no verdict counts that
    the method has not completed. Raises what `Caller.call` raises except `CallError`, which is a
    failure.

    Args:
        repair_model: Repairs an unreadable verdict; None lets the judge repair it.
        first: What `judge_call` made; None: it is made here.
    """
    try:
        first = first or await judge_call(frozen_judge, prompt_template, case, key)
    except PromptError as error:
        return JudgeReply(None, UNASKABLE, str(error))
    assert prompt_template is not None  # it was rendered
    options = prompt_template.scale.options
    conversation = _Conversation(
        frozen_judge.endpoint, caller, first, frozen_judge, options, case, repair_model
    )
    return await conversation.reply(METHODS[Method(frozen_judge.method)](conversation))


async def run_check(
    name: str, arguments: dict[str, Any], material: Material
) -> JudgeReply[ParsedVerdict]:
    """Run a check in a thread, for a search through long text would block the event loop."""
    outcome = await asyncio.to_thread(checks.run, name, arguments, material)
    if outcome.value is None:
        failure = CANNOT_TELL if outcome.is_final else CHECK_ERROR
        can_run = name not in CHECKS or CHECKS[name].can_run
        return JudgeReply(None, failure if can_run else CANNOT_RUN, outcome.error)
    shown = f"{outcome.value:.3g}"
    return JudgeReply(ParsedVerdict(shown, outcome.value, outcome.explanation))


async def ask_pair(
    endpoint: Endpoint, case: PairCase, caller: Caller, *, ties: bool
) -> JudgeReply[PairVerdict]:
    """Ask which answer of the case is better, and let an unreadable reply be repaired once.

    A failure is never a tie. Ask again with `case.reversed()`, and take both together
    (`pairwise_prompt.decided`). Raises as `ask_judge` does.
    """
    try:
        request = pair_request(endpoint, case, ties=ties)
    except ValueError as error:
        return JudgeReply(None, UNASKABLE, str(error))
    exchange = _Exchange(endpoint, caller, request)
    return await exchange.reply(
        exchange.read(lambda text, schema: read_pair(text, case, ties=ties), exchange.by_itself)
    )


def pair_request(endpoint: Endpoint, case: PairCase, *, ties: bool) -> JudgeCall:
    """Return the request for the better answer; raise ValueError if there is none."""
    schema = pair_schema(ties=ties)
    return JudgeCall(pair_messages(case, ties=ties), params_for(endpoint, {}, schema), schema)


async def judge_call(
    judge: FrozenJudge, template: JudgePromptTemplate | None, case: JudgedAnswer, key: str
) -> JudgeCall:
    """Return the first request for a judgment on the criterion with this key.

    Raises:
        PromptError: It cannot be made.
    """
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
    def __init__(self, reply: JudgeReply[Any]) -> None:
        self.reply = reply


class _ReadVerdict(NamedTuple, Generic[V]):
    """A verdict with the replies that it comes from: a judge's, and perhaps its repair."""

    verdict: V
    replies: list[CallReply]


@dataclass
class _Exchange:
    """The calls of one judgment. Each is recorded before the next; `last` is not recorded yet."""

    endpoint: Endpoint
    caller: Caller
    request: JudgeCall
    last: Call | None = field(default=None, kw_only=True)
    digests: set[str] = field(default_factory=set, kw_only=True)

    async def ask(self) -> CallReply:
        return await self._call(self.endpoint, self.request, CallRole.JUDGE)

    async def read(
        self, parse: Parser[V], repair: Callable[[str, str], tuple[Endpoint, JudgeCall] | None]
    ) -> _ReadVerdict[V]:
        """Ask for a verdict, and have it repaired once; raise if there is none.

        It counts in a tool call too, as some models reply to a schema.

        Args:
            repair: Returns the request for a repair, of the reason and the unreadable reply.
        """
        reply = await self.ask()
        first = parse(turn_text(reply.completion), self.request.schema)
        if not isinstance(first, Unreadable):
            return _ReadVerdict(first, [reply])
        asked = repair(first.reason, turn_text(reply.completion))
        if asked is None:
            raise self._unreadable(first, reply)
        try:
            repaired = await self._call(*asked, CallRole.REPAIR)
        except CallError as error:
            raise self._unreadable(first, reply) from error
        second = parse(turn_text(repaired.completion), asked[1].schema)
        if not isinstance(second, Unreadable):
            return _ReadVerdict(second, [reply, repaired])
        raise self._unreadable(second, repaired)

    def by_itself(self, reason: str, reply: str) -> tuple[Endpoint, JudgeCall] | None:
        """Let the judge repair its own reply; it cannot repair a label without a schema."""
        if self.request.schema is None:
            return None
        again = repair_messages(reason, self.request.schema, reply)
        return self.endpoint, self.request._replace(messages=[*self.request.messages, *again])

    async def reply(self, reading: Awaitable[_ReadVerdict[V]]) -> JudgeReply[V]:
        """Return the reply with the verdict that is read, or why there is none."""
        try:
            verdict, replies = await reading
        except _Failed as failed:
            return failed.reply
        except CallError as error:
            return JudgeReply(None, error.kind.value, error.message)
        call = replies[-1].call
        if call is not self.last:
            self._record()
        is_saved, was_repaired = self.last is None, len(replies) > 1 or verdict.repaired
        made = (call for call in self.caller.calls if call.request_digest in self.digests)
        return JudgeReply(
            verdict,
            call=call,
            is_saved=is_saved,
            was_repaired=was_repaired,
            cost_usd=cost_of_item({}, made),
        )

    async def _call(self, endpoint: Endpoint, request: JudgeCall, role: CallRole) -> CallReply:
        self._record()
        messages, params, schema = request
        # A part of a verdict is none, whatever can be read from it.
        reply = await self.caller.call(
            endpoint, messages, params, role=role, schema=schema, accepted=()
        )
        self.last = reply.call
        self.digests.add(reply.call.request_digest)
        return reply

    def _record(self) -> None:
        if self.last is not None:
            self.caller.record(self.last)
        self.last = None

    def _unreadable(self, unreadable: Unreadable, reply: CallReply) -> _Failed:
        is_saved, reason = self.last is None, unreadable.reason
        if not reply.completion.text:
            reason += f" It replied without text: {turn_text(reply.completion)[:QUOTED]}"
        return _Failed(JudgeReply(None, UNREADABLE, reason, reply.call, is_saved))


@dataclass
class _Conversation(_Exchange):
    """The calls of a judgment by a judge's method."""

    judge: FrozenJudge
    options: Sequence[Offered]
    case: JudgedAnswer
    repair_model: Endpoint | None

    def go_on(self, reply: str, question: str, schema: dict[str, Any] | None) -> None:
        """Make the next request: the conversation so far, the judge's reply and a question."""
        messages = continued(self.request.messages, reply, question)
        params = params_for(self.endpoint, self.judge.params, schema)
        self.request = JudgeCall(messages, params, schema)

    async def verdict(
        self, options: Sequence[Offered], *, by_itself: bool = False
    ) -> _ReadVerdict[ParsedVerdict]:
        """Ask for a verdict on these options; the answer's own words are none.

        Args:
            by_itself: The judge repairs it, whatever the repair model.
        """

        def by_model(reason: str, reply: str) -> tuple[Endpoint, JudgeCall] | None:
            """Have the verdict extracted; it remains the judge's, the call is the repair's."""
            model = None if by_itself else self.repair_model
            if not model or model.language_model_id == self.endpoint.language_model_id:
                return self.by_itself(reason, reply)
            schema = repair_model_schema(options)
            messages = repair_model_messages(reason, reply, options)
            return model, JudgeCall(messages, params_for(model, {}, schema), schema)

        found = await self.read(
            lambda text, schema: (parse_verdict if schema else parse_label)(text, options), by_model
        )
        if any(echoes(turn_text(one.completion), self.case.output) for one in found.replies):
            message = "The judge repeated a verdict from the answer under judgment."
            raise _Failed(JudgeReply(None, ECHO, message, found.replies[-1].call))
        return found


# Methods -----------------------------------------------------------------------------------------


async def _single(conversation: _Conversation) -> _ReadVerdict[ParsedVerdict]:
    return await conversation.verdict(conversation.options)


async def _self_critique(conversation: _Conversation) -> _ReadVerdict[ParsedVerdict]:
    """Judge, rate the judgment, and judge once more if the rating is low."""
    options, schema = conversation.options, conversation.request.schema
    first = await conversation.verdict(options)
    critique = as_text(CRITIQUE, RATINGS)
    conversation.go_on(as_reply(first.verdict), critique, verdict_schema(RATINGS))
    rating = (await conversation.verdict(RATINGS)).verdict
    if rating.value >= ENOUGH:
        return first
    conversation.go_on(as_reply(rating), as_text(AGAIN, options), schema)
    return await conversation.verdict(options)


async def _debate(conversation: _Conversation) -> _ReadVerdict[ParsedVerdict]:
    """Argue for every option and choose; if unsure, argue against both and decide."""
    options = conversation.options
    arguments = await conversation.ask()
    conversation.go_on(arguments.completion.text, as_text(CHOOSE, options), choice_schema(options))
    chosen = await conversation.verdict(options, by_itself=True)
    verdict = chosen.verdict
    if not verdict.alternative:
        return chosen
    both = [o for o in options if o.label in (verdict.option, verdict.alternative)]
    conversation.go_on(as_reply(verdict), as_text(OPPOSE, both), None)
    objections = await conversation.ask()
    conversation.go_on(objections.completion.text, as_text(DECIDE, both), verdict_schema(both))
    return await conversation.verdict(both)


METHODS = {Method.SINGLE: _single, Method.SELF_CRITIQUE: _self_critique, Method.DEBATE: _debate}
