"""Background work of summaries: call the analyst and save its reply."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet

from evalhub.llm.capabilities import default_temperature
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.parameters import own_params
from evalhub.models import BatchState, CallRole, ItemState
from evalhub.values.storable import storable
from evalhub.work.calls.caller import ModelCaller
from evalhub.work.kinds import Kind, Save
from reports.models import Exchange, ExecutiveSummary, Grade
from reports.summaries.analyst.key import FigureTable, Key
from reports.summaries.analyst.prompt import schema, size_of
from reports.summaries.analyst.replies import SummaryReply, parse, read, repair_messages
from reports.summaries.analyst.statements import check_statement
from reports.summaries.draft import (
    CHARACTERS_PER_TOKEN,
    Draft,
    Unsendable,
    draft_of,
    reply_tokens,
    text_of,
)
from reports.summaries.source_query import DifferenceTests
from runs.models import JudgeRun, Run

NO_RUNS = "no_runs"


@dataclass
class SummaryCall:
    """The job of one exchange. `draft` is why it cannot be sent where it cannot.

    `is_saved`: it was saved before, by a worker that died.
    """

    item_id: int
    summary: ExecutiveSummary
    draft: Draft | Unsendable
    is_saved: bool


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
        if isinstance(job.draft, Unsendable):
            problem = SummaryReply(error_kind=job.draft.kind, error_message=str(job.draft))
            await caller.save(problem)
            return
        if not job.is_saved:
            await caller.save(job.draft)
        try:
            reply = await _answered(job.summary, job.draft, caller)
        except CallError as error:
            text = storable(error.completion.text) if error.completion else ""
            await caller.save(SummaryReply(text, None, error.kind.value, error.message))
            return
        if reply.problems and has_room_for_repair(job.summary, job.draft, reply):
            await _repair(job.summary, job.draft, caller, reply)
        else:
            await caller.save(reply, reply.call)

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

    What was saved is drafted anew where it holds the text of a test that was sealed since.
    """
    tests = list(exchange.tests.all())
    if exchange.sent and not any(test.sealed for test in tests):
        key, table = Key.from_json(exchange.key), FigureTable.from_json(exchange.figures)
        of = [test.pk for test in tests]
        saved = Draft(exchange.sent, key, table, exchange.masked, exchange.notes, of)
        return SummaryCall(exchange.pk, summary, saved, is_saved=True)
    runs = list(summary.runs.select_related("language_model", "suite").order_by("pk"))
    draft: Draft | Unsendable = Unsendable(NO_RUNS, "The runs of this summary were deleted.")
    try:
        if runs:
            tokens, seed = summary.context_tokens, summary.seed
            draft = draft_of(runs, context_tokens=tokens, seed=seed, number=exchange.number)
    except Unsendable as error:
        draft = error
    return SummaryCall(exchange.pk, summary, draft, is_saved=False)


async def _answered(
    summary: ExecutiveSummary,
    draft: Draft,
    caller: ModelCaller,
    repair: Sequence[dict[str, str]] = (),
) -> SummaryReply:
    endpoint, tokens = summary.analyst_endpoint(), summary.context_tokens
    made = await caller.call(
        endpoint,
        [*draft.messages, *repair],
        own_params(
            endpoint.params,
            {},
            temperature=default_temperature(endpoint.litellm_model, 0),
            tokens=reply_tokens(tokens, draft.key),
            is_exact=True,
        ),
        role=CallRole.REPAIR if repair else CallRole.ANALYST,
        schema=schema(draft.key, size_of(tokens)),
    )
    text = storable(made.completion.text)
    return read(text, draft.key, draft.figures, made.call, made.completion.finish_reason)


def has_room_for_repair(summary: ExecutiveSummary, draft: Draft, first: SummaryReply) -> bool:
    """Return whether request, reply and second reply fit into the analyst's context."""
    characters = len(text_of([*draft.messages, *repair_messages(first)]))
    reply = reply_tokens(summary.context_tokens, draft.key)
    return characters / CHARACTERS_PER_TOKEN + reply <= summary.context_tokens


async def _repair(
    summary: ExecutiveSummary, draft: Draft, caller: ModelCaller, first: SummaryReply
) -> None:
    """Ask once more with what is wrong; save the better reply, and both in its transcript."""
    asked = repair_messages(first)
    caller.record(first.call)
    try:
        second = await _answered(summary, draft, caller, asked)
    except CallError as error:
        first.repair = [*asked, {"role": "assistant", "content": f"({error.message})"}]
        await caller.save(first)
        return
    better = second if second.is_better_than(first) else first
    better.repair = [*asked, {"role": "assistant", "content": second.text}]
    await caller.save(better, second.call)


# Saving ------------------------------------------------------------------------------------------


def _keep_reply(exchange: Exchange, reply: SummaryReply) -> None:
    Exchange.objects.filter(pk=exchange.pk).update(
        state=ItemState.ERROR if reply.error_kind else ItemState.DONE,
        worker=None,
        next_try_at=None,
        received=reply.text,
        call=reply.call,
        repair=reply.repair,
        error_kind=reply.error_kind,
        error_message=reply.error_message,
    )


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
    lines = {
        kind: [check_statement(one, key, table, tests).to_json() for one in statements]
        for kind, statements in parsed.texts.items()
    }
    Exchange.objects.filter(summary=exchange.summary_id).update(is_current=False)
    Exchange.objects.filter(pk=exchange.pk).update(is_current=True)
    ExecutiveSummary.objects.filter(pk=exchange.summary_id).update(
        content={**lines, "problems": list(parsed.problems)},
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
