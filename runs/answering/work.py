"""Work of a run: its candidate answers each revision, turn by turn."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import F, QuerySet

from evalhub.llm.applications.application_request import DOCUMENTS, SESSION_ID
from evalhub.llm.completion import AnswerTurn, Completion, Ending
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.models import Call, CallRole, ItemState
from evalhub.work.calls.caller import ModelCaller
from evalhub.work.cost_total import spent_by
from evalhub.work.database import update_locked
from evalhub.work.kinds import Kind, Save
from evalhub.work.limits.budget import Spend
from evalhub.work.spending import Costs, cost_of_item, earlier_costs
from issues.content.conversation import Message, filled, request_messages
from issues.content.images import with_kept_images
from issues.content.message_form import turns_to_generate
from issues.judge_templates.prompts import turn_text
from runs.comparison.provenance import parts_of
from runs.comparison.scoring_versions import Parts, merged, of_answer
from runs.models import NO_ANSWER, Answer, Provenance, Result, ResultScore, Run

NOTHING_ASKED = "nothing_asked"


@dataclass
class AnswerRequest:
    """A result to answer: the request, and the turns generated before with their provenance.

    `sealed` holds the test if it is sealed. `earlier` are the costs of its earlier calls.
    """

    item_id: int
    earlier: Costs
    endpoint: Endpoint
    params: dict[str, Any]
    messages: list[Message]
    tools: list[dict[str, Any]]
    turns: list[dict[str, Any]]
    sealed: list[int]
    accepted: Collection[Ending]
    made_with: Parts

    @property
    def turn_params(self) -> dict[str, Any]:
        """Return the parameters of the next turn: a later one stays in the session."""
        session_id = self.turns[-1].get("session_id") if self.turns else None
        return self.params | ({SESSION_ID: session_id} if session_id else {})


@dataclass
class Turn:
    """A generated turn. `cost_usd` is of all calls so far.

    `is_last`: it completes the answer, which was `made_with` these parts.
    """

    completion: Completion
    call: Call
    earlier: list[dict[str, Any]]
    is_last: bool
    cost_usd: Decimal | None = None
    made_with: Parts = field(default_factory=dict)


@dataclass
class Failure:
    """The end of a result without an answer, after all retries. `cost_usd` is of all its calls."""

    kind: str
    message: str
    ending: Ending = Ending.WHOLE
    cost_usd: Decimal | None = None


@dataclass
class _Changes:
    answers: list[Answer] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    unanswered: list[int] = field(default_factory=list)


class AnsweringKind(Kind[Run, Result, AnswerRequest]):
    """The work of a run: its results are the items."""

    batch_model, item_model, batch_field = Run, Result, "run"

    def endpoints(self, batch: Run) -> list[Endpoint]:
        return [batch.candidate()]

    def spend(self, batch: Run) -> Spend:
        return spend_of(batch)

    def prepare(self, batch: Run, item_ids: Sequence[int]) -> list[AnswerRequest]:
        results = Result.objects.filter(pk__in=item_ids).select_related(
            "revision", "answer__provenance"
        )
        results = results.annotate(is_sealed=F("test__sealed"))
        endpoint, costs = batch.candidate(), earlier_costs(batch, item_ids)
        return [
            _answer_request(batch, endpoint, result, costs.get(result.pk, {})) for result in results
        ]

    def sealed_tests(self, job: AnswerRequest) -> list[int]:
        return job.sealed

    async def perform(self, job: AnswerRequest, caller: ModelCaller) -> None:
        turns = job.turns
        holes = len(turns_to_generate(job.messages))
        if not holes:
            await caller.save(Failure(NOTHING_ASKED, "The test has no turn to answer: edit it."))
        try:
            while len(turns) < holes:
                reply = await caller.call(
                    job.endpoint,
                    filled(job.messages, [*map(AnswerTurn.of, turns)]),
                    job.turn_params,
                    role=CallRole.CANDIDATE,
                    tools=job.tools,
                    accepted=job.accepted,
                )
                is_last = len(turns) + 1 == holes
                cost_usd = cost_of_item(job.earlier, caller.calls)
                made_with = merged([job.made_with, _made_with(job, reply.call)])
                turn = Turn(reply.completion, reply.call, list(turns), is_last, cost_usd, made_with)
                await caller.save(turn, reply.call)
                turns.append(stored_turn(turn))
                job.made_with = made_with
        except CallError as error:
            ending = error.completion.ending if error.completion else Ending.WHOLE
            cost_usd = cost_of_item(job.earlier, caller.calls)
            await caller.save(Failure(error.kind.value, error.message, ending, cost_usd))

    def store(self, saves: list[Save]) -> None:
        items = [save.item_id for save in saves]
        results = Result.objects.select_related("test").in_bulk(items)
        changes = _Changes()
        for save in saves:
            _apply(save.content, results[save.item_id], changes)
        Provenance.set_on(changes.answers)
        Answer.objects.bulk_create(
            changes.answers,
            update_conflicts=True,
            unique_fields=["result"],
            update_fields=ANSWER_FIELDS,
        )
        update_locked(changes.results, RESULT_FIELDS)
        self.on_error(changes.unanswered)

    def on_error(self, item_ids: Sequence[int]) -> None:
        end_without_answer(item_ids)

    def finish(self, batch: Run) -> None:
        answers = Answer.objects.filter(result__run=batch, result__state=ItemState.DONE)
        Run.objects.filter(pk=batch.pk).update(provenance_parts=parts_of(answers))


def end_without_answer(result_ids: Sequence[int] | QuerySet[Result, Any]) -> None:
    """End result scores without an answer to judge as errors."""
    ResultScore.objects.filter(result__in=result_ids, state=ItemState.PENDING).update(
        state=ItemState.ERROR,
        error_kind=NO_ANSWER,
        error_message="The model gave no answer to judge.",
    )


ANSWER_FIELDS = [
    *("text", "turns", "tool_calls", "documents", "reasoning", "call", "provenance"),
]
RESULT_FIELDS = [
    "state",
    "worker",
    "attempts",
    "next_try_at",
    "error_kind",
    "error_message",
    "ending",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "latency_ms",
]


def spend_of(run: Run) -> Spend:
    """Return a run's spend: its limit covers its answers and all its judge runs."""
    if run.cost_limit_usd is None:
        return Spend(0.0, None, run.work_key)
    own = Run.objects.only("spent_usd", "unpriced_calls").filter(pk=run.pk)
    spent = spent_by([*own, *run.judge_runs.only("run", "spent_usd", "unpriced_calls")])
    return Spend(float(spent.usd or 0), float(run.cost_limit_usd), run.work_key)


def _answer_request(run: Run, endpoint: Endpoint, result: Any, earlier: Costs) -> AnswerRequest:
    content = result.revision.content
    context, params = content["context"], run.params
    if endpoint.places_documents:
        context, params = "", params | {DOCUMENTS: context}
    answer = getattr(result, "answer", None)
    return AnswerRequest(
        item_id=result.pk,
        earlier=earlier,
        endpoint=endpoint,
        params=params,
        messages=request_messages(content["messages"], context, run.system_prompt),
        tools=content["tools"],
        turns=list(answer.turns) if answer else [],
        sealed=[result.test_id] if result.is_sealed else [],
        accepted=run.accepted_endings,
        made_with=answer.provenance.parts if answer and answer.provenance else {},
    )


def _made_with(job: AnswerRequest, call: Call) -> Parts:
    endpoint = job.endpoint
    asked = [endpoint.litellm_model, endpoint.api_base, endpoint.params, job.params]
    return of_answer(asked, call.sent_params, call.refused_params)


def stored_turn(turn: Turn) -> dict[str, Any]:
    """Return a turn as `Answer.turns` holds it."""
    return {**turn.completion.stored(), "call": turn.call.pk}


def ending_of(turns: Sequence[dict[str, Any]]) -> Ending:
    """Return how an answer ended: as the first of its turns that broke off."""
    endings = (AnswerTurn.of(turn).ending for turn in turns)
    return next(filter(None, endings), Ending.WHOLE)


def documents_in(turns: Sequence[dict[str, Any]]) -> list[dict[str, str]] | None:
    """Return the documents retrieved for any turn, each once; None if none were reported."""
    reported = [turn["documents"] for turn in turns if turn.get("documents") is not None]
    if not reported:
        return None
    documents = (document for found in reported for document in found)
    return list({(one["text"], one["title"]): one for one in documents}.values())


def _apply(content: Turn | Failure, result: Result, changes: _Changes) -> None:
    changes.results.append(result)
    result.cost_usd = content.cost_usd
    if isinstance(content, Failure):
        _end(result, ItemState.ERROR)
        result.ending = content.ending
        result.error_kind, result.error_message = content.kind, content.message
        changes.unanswered.append(result.pk)
        return
    completion = content.completion
    turns = [
        with_kept_images(turn, result.test) for turn in (*content.earlier, stored_turn(content))
    ]
    for name in ("input_tokens", "output_tokens", "latency_ms"):
        setattr(
            result, name, _sum(getattr(result, name), getattr(completion, name), content.earlier)
        )
    if content.is_last:
        _end(result, ItemState.DONE)
    result.ending = ending_of(turns)
    answer = Answer(
        result=result,
        text=turn_text(AnswerTurn.of(turns[-1])),
        turns=turns,
        tool_calls=list(completion.tool_calls),
        documents=documents_in(turns),
        reasoning=completion.reasoning,
        call=content.call,
    )
    answer.made_with = content.made_with
    changes.answers.append(answer)


def _sum(before: Any, more: Any, earlier: list[Any]) -> Any:
    """Return a sum over all turns; None if that of one is unknown."""
    if not earlier:
        return more
    return None if before is None or more is None else before + more


def _end(result: Result, state: ItemState) -> None:
    result.state, result.worker, result.next_try_at = state, None, None
    result.error_kind = result.error_message = ""
