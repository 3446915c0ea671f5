"""Requests of a workbench about its rows, and their judgments so far."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from evalhub.llm.completion import AnswerTurn
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.gateway import request_digest
from evalhub.values.digest import digest
from evalhub.work.calls.direct_caller import DirectCaller
from issues.checks import Material, text_of
from issues.content.conversation import Message
from issues.judge_templates.prompts import PromptError
from issues.models import Criterion
from runs.judging.ask_judge import JudgeReply, ask_judge, run_check
from runs.judging.jury import FrozenJudge
from runs.judging.methods import first_request
from runs.judging.prompts import JudgedAnswer, JudgePromptTemplate, messages_for
from runs.laboratory.direct_calls import cost_of
from runs.laboratory.judging import WHOLE
from runs.laboratory.workbench.judges import Setup
from runs.laboratory.workbench.models import (
    BenchJudgment,
    BenchRow,
    RowJudgment,
    RowPairJudgment,
    RowPlace,
)
from runs.models import JudgmentState, Method

CHECK = "check"


J = TypeVar("J", RowJudgment, RowPairJudgment)


@dataclass(frozen=True)
class JudgmentRequest:
    """What is asked, by its digest, and the place of the judgment that it asks for."""

    place: tuple[Any, ...]
    digest: str
    judgment_model: ClassVar[type[BenchJudgment]]

    def save(self, fields: dict[str, Any]) -> None:
        place = dict(zip(self.judgment_model.place_fields, self.place, strict=True))
        self.judgment_model.objects.update_or_create(**place, digest=self.digest, defaults=fields)


@dataclass(frozen=True)
class BenchRequest(JudgmentRequest):
    """A judgment that a row should have; `digest` is of exactly what is asked.

    Without a judge, the criterion's check gives it.
    """

    place: RowPlace
    row: BenchRow
    point: Criterion
    case: JudgedAnswer
    judge: FrozenJudge | None = None
    template: JudgePromptTemplate | None = None
    repair_model: Endpoint | None = None
    judgment_model = RowJudgment

    @property
    def rows(self) -> list[BenchRow]:
        return [self.row]

    async def ask(self, caller: DirectCaller) -> dict[str, Any]:
        """Ask the judge, or run the check, as `Request.ask` does."""
        if self.judge is None:
            material = Material(text_of(turn.text for turn in self.case.turns))
            reply = await run_check(self.point.check_name, self.point.arguments, material)
        else:
            asked = (self.judge, self.template, self.case, self.place.key)
            reply = await ask_judge(*asked, caller, repair_model=self.repair_model)
        verdict = reply.verdict
        return {
            **fields_of(reply, caller),
            "option": verdict.option if verdict else "",
            "value": verdict.value if verdict and self.judge is None else None,
        }


def fields_of(reply: JudgeReply[Any], caller: DirectCaller) -> dict[str, Any]:
    """Return the fields that a judgment of a row and one of a pair share."""
    return {
        "state": reply.state,
        "justification": reply.verdict.justification if reply.verdict else "",
        "message": reply.message,
        "call": reply.call,
        "cost_usd": cost_of(caller.calls),
    }


def case_of(setup: Setup, row: BenchRow) -> JudgedAnswer:
    turns = [AnswerTurn(text=text) for text in (*row.turns, row.answer)]
    return JudgedAnswer(setup.draft_of(row).content, "", turns, row.test_id)


def requests_of(setup: Setup, row: BenchRow) -> list[BenchRequest]:
    """Return all requests about a row: none without an answer, or once it is an example."""
    if not row.answer.strip() or row.example_id:
        return []
    case = case_of(setup, row)
    found: list[BenchRequest] = []
    for point in setup.points or [WHOLE]:
        if point.check_name:
            asked = digest([point.check_name, point.arguments, [turn.text for turn in case.turns]])
            found.append(BenchRequest(RowPlace(row.pk, point.key, CHECK), asked, row, point, case))
            continue
        for slot, judge in setup.judges:
            for order, asked, template in _orders(setup, judge, case, point.key):
                repair_model = setup.repair_models.get(template.template_id) if template else None
                by = (judge, template, repair_model)
                places = [RowPlace(row.pk, point.key, slot, order, n) for n in range(judge.samples)]
                found += [BenchRequest(place, asked, row, point, case, *by) for place in places]
    return found


def _orders(
    setup: Setup, judge: FrozenJudge, case: JudgedAnswer, key: str
) -> list[tuple[int, str, JudgePromptTemplate | None]]:
    """Return each order of the options with its digest; a prompt without options has one order."""
    template = setup.template_of(judge)
    given = prompt_of(judge, template, case, key)
    orders = [(0, _digest(judge, template, given), template)]
    if setup.is_reversed:
        template = setup.template_of(judge, 1)
        turned = prompt_of(judge, template, case, key)
        if turned != given:
            orders.append((1, _digest(judge, template, turned), template))
    return orders


def prompt_of(
    judge: FrozenJudge, template: JudgePromptTemplate | None, case: JudgedAnswer, key: str
) -> list[Message] | str:
    """Return the exact messages to a judge; a text says why there are none."""
    if template is None:
        return "No judge template is published for this approach."
    try:
        model = judge.endpoint.language_model_id
        return messages_for(template, case, key, language_model_id=model, role=judge.role)
    except PromptError as error:
        return str(error)


def _digest(
    judge: FrozenJudge, template: JudgePromptTemplate | None, messages: list[Message] | str
) -> str:
    if template is None or isinstance(messages, str):
        return digest([messages])
    asked = request_digest(judge.endpoint, *first_request(judge, template, messages))
    return asked if judge.method == Method.SINGLE else digest([asked, judge.method])


class SavedJudgments(Generic[J]):
    """Saved judgments: the ones of exactly what is asked now, and older ones by place."""

    def __init__(self, rows: Iterable[J]) -> None:
        self._exact: dict[tuple[Any, str], J] = {}
        self._last: dict[Any, J] = {}
        for row in sorted(rows, key=lambda row: row.created_at):
            self._exact[row.place, row.digest] = self._last[row.place] = row

    def __bool__(self) -> bool:
        return bool(self._exact)

    def current(self, request: JudgmentRequest) -> J | None:
        return self._exact.get((request.place, request.digest))

    def stale(self, request: JudgmentRequest) -> J | None:
        """Return the last judgment of something that has changed since."""
        return None if self.current(request) else self._last.get(request.place)

    def is_missing(self, request: JudgmentRequest) -> bool:
        """Return True if it must be asked: nothing of it is saved, or it failed."""
        found = self.current(request)
        return found is None or found.state == JudgmentState.FAILED


def judgments_of(rows: Sequence[BenchRow]) -> SavedJudgments[RowJudgment]:
    return SavedJudgments(RowJudgment.objects.filter(row__in=rows))


def missing_requests(setup: Setup, rows: Sequence[BenchRow]) -> list[BenchRequest]:
    """Return what must be asked: what changed, has never been asked, or failed."""
    saved = judgments_of(rows)
    return [r for row in rows for r in requests_of(setup, row) if saved.is_missing(r)]
