"""Background work of summaries: call the analyst and save its reply."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.models import BatchState, CallRole, ItemState
from evalhub.values.storable import storable
from evalhub.work.caller import ModelCaller
from evalhub.work.kinds import Kind, Save
from reports.models import Exchange, ExecutiveSummary, Grade
from reports.summaries.content import content_of
from reports.summaries.difference_query import DifferenceTests
from reports.summaries.draft import Draft, Unsendable, draft_of, form_of, reply_of
from reports.summaries.figure_table import FigureTable
from reports.summaries.key import Key
from reports.summaries.parse import parse
from reports.summaries.replies import SummaryReply, read, repair_messages, room_for_repair
from runs.models import JudgeRun, Run

NO_RUNS = "no_runs"


@dataclass
class SummaryCall:
    """The job of one exchange.

    `draft` is what is sent; None where it was saved before, by a worker that died. `problem`: it
    cannot be sent.
    """

    item_id: int
    endpoint: Endpoint
    messages: list[dict[str, Any]]
    params: dict[str, Any]
    schema: dict[str, Any]
    context_tokens: int
    key: Key
    figures: FigureTable
    draft: Draft | None = None
    problem: Unsendable | None = None


class Summarising(Kind[ExecutiveSummary, Exchange, SummaryCall]):
    """The work of an executive summary, whose pending exchange is the item."""

    batch_model, item_model, batch_field = ExecutiveSummary, Exchange, "summary"

    def claimable(self, batch: ExecutiveSummary) -> QuerySet[Exchange]:
        """Return its exchanges once all its runs have ended."""
        return self.items_of(batch).exclude(Exists(unfinished([batch.pk])))

    def endpoints(self, batch: ExecutiveSummary) -> list[Endpoint]:
        return [batch.analyst_endpoint()]

    def prepare(self, batch: ExecutiveSummary, item_ids: Sequence[int]) -> list[SummaryCall]:
        exchanges = Exchange.objects.filter(pk__in=item_ids)
        return [_summary_call(batch, exchange) for exchange in exchanges]

    def sealed_tests(self, job: SummaryCall) -> Sequence[int]:
        """Return none: analysts get the figures of sealed tests and none of their text."""
        return ()

    async def perform(self, job: SummaryCall, caller: ModelCaller) -> None:
        if job.problem is not None:
            problem = SummaryReply(error_kind=job.problem.kind, error_message=str(job.problem))
            await caller.save(problem)
            return
        if job.draft is not None:
            await caller.save(job.draft)
        try:
            reply = await _answered(job, caller, job.messages, CallRole.ANALYST)
        except CallError as error:
            text = storable(error.completion.text) if error.completion else ""
            await caller.save(SummaryReply(text, None, error.kind.value, error.message))
            return
        if reply.problems and room_for_repair(job, reply):
            reply = await _repaired(job, caller, reply)
        await caller.save(reply, *([reply.call] if reply.call and not reply.is_saved else []))

    def store(self, saves: list[Save]) -> None:
        for save in saves:
            exchange = Exchange.objects.get(pk=save.item_id)
            if isinstance(save.content, Draft):
                keep_sent(exchange, save.content)
            else:
                _keep_reply(exchange, save.content)

    def finish(self, batch: ExecutiveSummary) -> None:
        """Take the newest usable reply as content; after a failure keep the last."""
        newest = Exchange.objects.filter(summary=batch, state=ItemState.DONE).last()
        if newest is not None and not newest.is_current:
            make_current(newest)


def unfinished(summaries: Collection[int]) -> QuerySet[Run]:
    """Return the runs of these summaries that are live or paused."""
    at_work = (BatchState.LIVE, BatchState.PAUSED)
    judged = JudgeRun.objects.filter(run=OuterRef("pk"), state__in=at_work)
    return Run.objects.filter(summaries__in=summaries).filter(
        Q(state__in=at_work) | Q(Exists(judged), state=BatchState.DONE)
    )


# Asking ------------------------------------------------------------------------------------------


def _summary_call(summary: ExecutiveSummary, exchange: Exchange) -> SummaryCall:
    """Return the request saved before a worker died, or else a draft of the runs as they are.

    What was saved is drafted anew where it holds the text of a test that was sealed since, or asks
    for a reply in the form of older versions.
    """
    draft, problem, key, messages = None, None, Key({}, {}), exchange.sent
    figures = FigureTable.from_json(exchange.figures)
    if messages and _is_current_form(exchange) and not exchange.tests.filter(sealed=True).exists():
        key = Key.from_json(exchange.key)
    else:
        runs = list(summary.runs.select_related("language_model", "suite").order_by("pk"))
        try:
            if not runs:
                raise Unsendable(NO_RUNS, "The runs of this summary were deleted.")
            draft = draft_of(
                runs,
                context_tokens=summary.context_tokens,
                seed=summary.seed,
                number=exchange.number,
            )
            key, messages, figures = draft.key, draft.messages, draft.figures
        except Unsendable as error:
            problem = error
    endpoint = summary.analyst_endpoint()
    room = reply_of(summary.context_tokens, key)
    params = {"temperature": 0, **endpoint.params, "max_tokens": room}
    schema = form_of(summary.context_tokens).schema(key) if key.models else {}
    return SummaryCall(
        exchange.pk,
        endpoint,
        messages,
        params,
        schema,
        summary.context_tokens,
        key,
        figures,
        draft,
        problem,
    )


def _is_current_form(exchange: Exchange) -> bool:
    """Return whether the saved request asks for claims: older ones list figures only."""
    return isinstance(exchange.figures, dict)


async def _answered(
    job: SummaryCall, caller: ModelCaller, messages: list[dict[str, Any]], role: CallRole
) -> SummaryReply:
    made = await caller.call(job.endpoint, messages, job.params, role=role, schema=job.schema)
    text = storable(made.completion.text)
    return read(text, job.key, job.figures, made.call, made.completion.finish_reason)


async def _repaired(job: SummaryCall, caller: ModelCaller, first: SummaryReply) -> SummaryReply:
    """Ask once more with what is wrong; take the better reply, and keep both."""
    assert first.call is not None
    asked = repair_messages(first)
    caller.record(first.call)
    first.is_saved = True
    try:
        second = await _answered(job, caller, [*job.messages, *asked], CallRole.REPAIR)
    except CallError as error:
        first.repair = [*asked, {"role": "assistant", "content": f"({error.message})"}]
        return first
    exchanged = [*asked, {"role": "assistant", "content": second.text}]
    if second.is_better_than(first):
        second.repair = exchanged
        return second
    assert second.call is not None
    caller.record(second.call)
    first.repair = exchanged
    return first


# Saving ------------------------------------------------------------------------------------------


def _keep_reply(exchange: Exchange, reply: SummaryReply) -> None:
    exchange.worker, exchange.next_try_at = None, None
    exchange.received, exchange.call, exchange.repair = reply.text, reply.call, reply.repair
    exchange.error_kind, exchange.error_message = reply.error_kind, reply.error_message
    exchange.state = ItemState.ERROR if reply.error_kind else ItemState.DONE
    ended = ("state", "worker", "next_try_at", "received", "call", "error_kind", "error_message")
    exchange.save(update_fields=[*ended, "repair"])


def keep_sent(exchange: Exchange, draft: Draft) -> None:
    exchange.sent, exchange.key = draft.messages, draft.key.to_json()
    exchange.figures, exchange.masked = draft.figures.to_json(), draft.masked
    exchange.notes = draft.notes
    exchange.save(update_fields=["sent", "key", "figures", "masked", "notes"])
    exchange.tests.set(draft.tests)


def make_current(exchange: Exchange) -> None:
    """Take this exchange's reply as the summary's content, inside a transaction."""
    key, table = Key.from_json(exchange.key), FigureTable.from_json(exchange.figures)
    parsed = parse(exchange.received, key)
    tests = DifferenceTests(list(exchange.summary.runs.all()), key, table)
    Exchange.objects.filter(summary=exchange.summary_id).update(is_current=False)
    Exchange.objects.filter(pk=exchange.pk).update(is_current=True)
    ExecutiveSummary.objects.filter(pk=exchange.summary_id).update(
        content=content_of(parsed, key, table, tests),
        tags=list(parsed.topics),
    )
    Grade.objects.filter(summary=exchange.summary_id).delete()
    Grade.objects.bulk_create(
        Grade(
            summary_id=exchange.summary_id,
            language_model_id=key.models[graded.model].language_model,
            model_name=key.models[graded.model].name,
            dimension=graded.dimension,
            grade=graded.grade,
            reasoning=graded.reasoning,
        )
        for graded in parsed.grades
    )
