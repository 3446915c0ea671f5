"""Evaluation of rows while a person waits, each judgment saved as soon as it is there.

It is streamed as “Try it” is and needs no worker: rows are few, a person looks at them, and what
has been judged is kept, so that an evaluation that stopped goes on where it was.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.db import transaction

from evalhub.llm.errors import CallError
from evalhub.models import User
from evalhub.work.direct_caller import DirectCaller
from evalhub.work.errors import GivenBack
from issues.models import Test
from issues.states import Refused
from runs.judging.work import all_or_none
from runs.playground.direct_calls import caller_of, cost_of, cost_words, over_limit, save_calls
from runs.playground.event_stream import Emit, Event, line, streamed
from runs.workbench.judges import Setup
from runs.workbench.models import BenchRow, RowJudgment
from runs.workbench.requests import BenchRequest, RowReply, missing_requests, reply_to

MAX_CALLS = 1000
"""Calls of one evaluation."""


@dataclass
class Evaluation:
    """Requests to make, and the sealed tests whose text they carry, of `tests` in all."""

    setup: Setup
    requests: list[BenchRequest]
    sealed: list[int]
    tests: int
    replies: list[RowReply] = field(default_factory=list)


def evaluation_of(setup: Setup, rows: Sequence[BenchRow], user: User) -> Evaluation:
    """Return what is to be asked about these rows.

    Raises:
        Refused: Nothing can be asked, too much would be, or an example may not be read.
    """
    if not setup.judges and not any(point.check_name for point in setup.points):
        raise Refused(["Choose at least one model or a jury to judge."])
    requests = missing_requests(setup, rows)
    if not any(row.answer.strip() for row in rows):
        raise Refused(["There is nothing to judge: enter an answer first."])
    if len(requests) > MAX_CALLS:
        message = f"This would take {len(requests):,} calls; one evaluation may take {MAX_CALLS:,}."
        raise Refused([f"{message} Evaluate fewer rows at once, or choose fewer judges."])
    known = {row.test_id for row in rows} | {row.workbench.test_id for row in rows[:1]}
    tests = {pk for pk in known if pk}
    templates = {r.template.template_id: r.template for r in requests if r.template}
    shown = {row.test_id for t in templates.values() for row in t.examples.rows if row.test_id}
    sealed = Test.objects.filter(pk__in=tests | shown, sealed=True)
    pks = sorted(sealed.values_list("pk", flat=True))
    if sealed.readable_by(user).count() < len(pks):
        raise Refused(
            ["The judge prompt shows an example of a sealed test, which you may not read."]
        )
    return Evaluation(setup, requests, pks, len(tests | set(pks)))


def lines_of(
    evaluation: Evaluation,
    user: User,
    *,
    shown: Callable[[set[int]], Event],
    at_end: Callable[[], Event],
) -> Iterator[bytes]:
    """Evaluate, and yield events as lines of JSON; each reply is saved before it is shown.

    Args:
        shown: Returns the event that shows these rows again.
        at_end: Returns the last event.
    """
    caller = caller_of(user, evaluation.setup.roles, item_id=None)
    total, done = len(evaluation.requests), 0
    save = partial(_saved, evaluation, caller)

    def save_rest() -> None:
        save()

    for raw in streamed(partial(_evaluate, evaluation, caller), at_end=save_rest):
        rows = save() if evaluation.replies else []
        if rows:
            done += len(rows)
            yield line(shown(set(rows)) | {"progress": f"{done:,} of {total:,} judgments"})
        yield b"\n" if raw == line({}) else raw
    yield line(at_end())


async def _evaluate(evaluation: Evaluation, caller: DirectCaller, emit: Emit) -> None:
    async def ask(request: BenchRequest) -> None:
        own = replace(caller, calls=[])
        try:
            reply = await reply_to(evaluation.setup, request, own)
        finally:
            caller.calls += own.calls
        evaluation.replies.append(reply)
        emit({})

    try:
        await all_or_none([ask(request) for request in evaluation.requests])
    except CallError as error:
        emit({"error": error.message})
    except GivenBack:
        emit({"error": over_limit()})
    emit({"cost": cost_words(caller.calls)})


@transaction.atomic
def _saved(evaluation: Evaluation, caller: DirectCaller) -> list[int]:
    """Save the replies so far with their calls; return a row for each of them."""
    replies = [evaluation.replies.pop(0) for _ in range(len(evaluation.replies))]
    save_calls(caller)
    asked = {reply.request.row.pk for reply in replies}
    known = set(BenchRow.objects.filter(pk__in=asked).values_list("pk", flat=True))
    for reply in replies:
        if reply.request.row.pk in known:
            _save(reply)
    return [reply.request.row.pk for reply in replies]


def _save(reply: RowReply) -> None:
    """Save a judgment in place of a failed one of the same request."""
    judgment, request = reply.judgment, reply.request
    changed: dict[str, Any] = {
        name: getattr(judgment, name)
        for name in ("state", "option", "value", "justification", "message", "call")
    }
    if reply.caller is not None:
        changed["cost_usd"] = cost_of(reply.caller.calls)
    RowJudgment.objects.update_or_create(
        row=request.row, digest=request.digest, **request.place._asdict(), defaults=changed
    )
