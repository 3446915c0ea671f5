"""Background work of summaries: call the analyst and save its reply."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.models import BatchState, Call, CallRole, ItemState
from evalhub.storable import storable
from evalhub.work.budget import Spend
from evalhub.work.caller import ModelCaller
from evalhub.work.kinds import Kind, Save
from reports.models import Exchange, ExecutiveSummary, Grade
from reports.summaries.content import content_of
from reports.summaries.draft import Draft, Unsendable, draft_of, reply_of, text_of
from reports.summaries.key import Key
from reports.summaries.parse import Parsed, parse
from runs.models import JudgeRun, Run

UNUSABLE, NO_RUNS = "unusable_reply", "no_runs"


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
    key: Key
    draft: Draft | None = None
    problem: Unsendable | None = None


@dataclass
class Reply:
    """The analyst's reply, and why it is unusable or missing; usable without an error."""

    text: str = ""
    call: Call | None = None
    error_kind: str = ""
    error_message: str = ""


class Summarising(Kind[ExecutiveSummary, Exchange, SummaryCall]):
    """The work of an executive summary, whose pending exchange is the item."""

    batch_model, item_model, batch_field = ExecutiveSummary, Exchange, "summary"

    def claimable(self, batch: ExecutiveSummary) -> QuerySet[Exchange]:
        """Return its exchanges once all its runs have ended."""
        return self.items_of(batch).exclude(Exists(unfinished([batch.pk])))

    def endpoints(self, batch: ExecutiveSummary) -> list[Endpoint]:
        return [batch.analyst_endpoint()]

    def spend(self, batch: ExecutiveSummary) -> Spend:
        limit = batch.cost_limit_usd
        spent = ExecutiveSummary.objects.values_list("spent_usd", flat=True).get(pk=batch.pk)
        return Spend(float(spent), None if limit is None else float(limit), batch.work_key)

    def prepare(self, batch: ExecutiveSummary, item_ids: Sequence[int]) -> list[SummaryCall]:
        exchanges = Exchange.objects.filter(pk__in=item_ids)
        return [_summary_call(batch, exchange) for exchange in exchanges]

    def sealed_tests(self, job: SummaryCall) -> Sequence[int]:
        """Return None: analysts get the figures of sealed tests and none of their text."""
        return ()

    async def perform(self, job: SummaryCall, caller: ModelCaller) -> None:
        if job.problem is not None:
            problem = Reply(error_kind=job.problem.kind, error_message=str(job.problem))
            await caller.save(problem)
            return
        if job.draft is not None:
            await caller.save(job.draft)
        try:
            made = await caller.call(job.endpoint, job.messages, job.params, role=CallRole.ANALYST)
        except CallError as error:
            text = storable(error.completion.text) if error.completion else ""
            await caller.save(Reply(text, None, error.kind.value, error.message))
            return
        text = storable(made.completion.text)
        message = problem_of(parse(text, job.key), text, made.completion.finish_reason)
        reply = Reply(text, made.call, UNUSABLE if message else "", message)
        await caller.save(reply, made.call)

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
    draft, problem, key, messages = None, None, Key({}, {}), exchange.sent
    if messages and not exchange.tests.filter(sealed=True).exists():
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
            key, messages = draft.key, draft.messages
        except Unsendable as error:
            problem = error
    endpoint = summary.analyst_endpoint()
    room = reply_of(summary.context_tokens, key)
    params = {"temperature": 0, **endpoint.params, "max_tokens": room}
    return SummaryCall(exchange.pk, endpoint, messages, params, key, draft, problem)


def problem_of(parsed: Parsed, text: str, finish_reason: str) -> str:
    """Return why a reply is unusable; "" if it has a finding or grade."""
    if parsed.is_usable:
        return ""
    if not text.strip():
        return f"The analyst's reply was empty (it ended with “{finish_reason}”)."
    found = f" {' '.join(parsed.problems[:3])}" if parsed.problems else ""
    return f"The reply has no finding and no grade that could be parsed.{found}"


# Saving ------------------------------------------------------------------------------------------


def _keep_reply(exchange: Exchange, reply: Reply) -> None:
    exchange.worker, exchange.next_try_at = None, None
    exchange.received, exchange.call = reply.text, reply.call
    exchange.error_kind, exchange.error_message = reply.error_kind, reply.error_message
    exchange.state = ItemState.ERROR if reply.error_kind else ItemState.DONE
    ended = ("state", "worker", "next_try_at", "received", "call", "error_kind", "error_message")
    exchange.save(update_fields=ended)


def keep_sent(exchange: Exchange, draft: Draft) -> None:
    exchange.sent, exchange.key = draft.messages, draft.key.to_json()
    exchange.figures, exchange.masked = draft.figures, draft.masked
    exchange.notes = draft.notes
    exchange.save(update_fields=["sent", "key", "figures", "masked", "notes"])
    exchange.tests.set(draft.tests)


def make_current(exchange: Exchange) -> None:
    """Take this exchange's reply as the summary's content, inside a transaction."""
    key = Key.from_json(exchange.key)
    parsed = parse(exchange.received, key)
    Exchange.objects.filter(summary=exchange.summary_id).update(is_current=False)
    Exchange.objects.filter(pk=exchange.pk).update(is_current=True)
    ExecutiveSummary.objects.filter(pk=exchange.summary_id).update(
        content=content_of(parsed, exchange.figures, text_of(exchange.sent)),
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
