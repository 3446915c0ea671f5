"""Calls of a person who waits: today's budget, what is streamed, their records and cost."""

import json
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from django.db.models import Sum
from django.http import StreamingHttpResponse
from django.utils import timezone

from evalhub.access.sealing.sending_consent import Role, consent_asked, record_sendings
from evalhub.display.formatting import counted, usd
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.models import Call, CallRole, User
from evalhub.refusals import Refused
from evalhub.work.calls.direct_caller import DirectCaller, save_calls
from evalhub.work.calls.errors import GivenBack
from evalhub.work.limits.budget import Budget, Gate
from evalhub.work.limits.shared_rate import read_shared
from runs.laboratory.event_stream import Emit, line, streamed, streamed_response

TRY_TEST = "issues.try_test"
NO_WORKER = 0

CallingWork = Callable[[DirectCaller, Emit], Coroutine[Any, Any, None]]


@dataclass
class Try:
    """What a person asks for: the endpoints it calls by role, and the sealed tests that they get.

    `tests` is the number of all tests.
    """

    roles: list[Role]
    sealed: list[int]
    tests: int


T = TypeVar("T", bound=Try)


def tried(
    wanted: Callable[[], T],
    lines: Callable[[T], Iterable[bytes]],
    *,
    by: User,
    consent: str | None,
) -> StreamingHttpResponse:
    """Stream a try, once it is agreed that sealed tests leave the trusted network.

    Args:
        wanted: Returns the try, or raises `Refused`, which is streamed.
        lines: Does it, and yields its events as lines.
        consent: The key of the exposure that the user has agreed to.
    """
    try:
        found = wanted()
    except Refused as error:
        return streamed_response([line({"error": " ".join(error.problems)})])
    if asked := consent_asked(found.sealed, found.tests, found.roles, consent):
        return streamed_response([line(asked)])
    record_sendings(found.sealed, found.roles, by=by)
    return streamed_response(lines(found))


def events_of(
    work: CallingWork, caller: DirectCaller, *, save: Callable[[], object] | None = None
) -> Iterator[bytes]:
    """Do work, and yield its events as lines: last the error of a failed call, and the cost.

    Args:
        save: Called at its end; None: its calls are saved.
    """
    at_end = save or partial(save_calls, caller)
    return streamed(partial(_performed, work, caller), at_end=at_end)


async def _performed(work: CallingWork, caller: DirectCaller, emit: Emit) -> None:
    try:
        await work(caller, emit)
    except CallError as error:
        emit({"error": error.message})
    except GivenBack:
        emit({"error": over_limit()})
    emit({"cost": cost_words(caller.calls)})


class DirectReply(NamedTuple):
    """A judge's words, or the error in place of them; `cost` in words."""

    text: str = ""
    error: str = ""
    cost: str = ""


def reply_of(endpoint: Endpoint, message: str, *, by: User) -> DirectReply:
    """Ask a judge, within what this person may spend on tries today; the call is recorded."""

    async def ask(caller: DirectCaller, emit: Emit) -> None:
        messages = [{"role": "user", "content": message}]
        reply = await caller.call(endpoint, messages, {}, role=CallRole.JUDGE)
        emit({"text": reply.completion.text})

    found: dict[str, str] = {}
    for raw in events_of(ask, caller_of(by, [("judge", endpoint)], item_id=None)):
        found |= json.loads(raw) if raw.strip() else {}
    return DirectReply(**found)


def over_limit() -> str:
    return (
        "The next call could exceed your limit for trying tests, "
        f"{settings.EVALHUB_TRY_LIMIT_USD} USD per day. Choose a cheaper model, or ask an "
        "administrator to raise EVALHUB_TRY_LIMIT_USD."
    )


def caller_of(user: User, roles: Sequence[Role], *, item_id: int | None) -> DirectCaller:
    """Return a caller within what this user may still spend today."""
    models = [endpoint.language_model_id for _, endpoint in roles]
    return DirectCaller(
        work_key=_work_key(user),
        item_id=item_id,
        gate=_gate(user),
        shared=read_shared(dict.fromkeys(models), NO_WORKER),
    )


def _work_key(user: User) -> str:
    return f"try {user.pk}"


def _gate(user: User) -> Gate:
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    calls = Call.objects.filter(batch=_work_key(user), started_at__gte=midnight)
    spent = calls.aggregate(total=Sum("cost_usd"))["total"] or 0
    return Gate(Budget(allowance_usd=float(settings.EVALHUB_TRY_LIMIT_USD) - float(spent)))


def cost_of(calls: Sequence[Call]) -> Decimal | None:
    """Return the cost of calls in US dollars; None if one of them is unknown."""
    known = [call.cost_usd for call in calls if call.cost_usd is not None]
    return sum(known, Decimal(0)) if len(known) == len(calls) else None


def cost_words(calls: Sequence[Call]) -> str:
    """Return calls and their cost, such as “2 calls, 0.0013 USD”."""
    cost = cost_of(calls)
    return f"{counted(len(calls), 'call')}, {'cost not known' if cost is None else usd(cost)}"
