"""The page of one result, read from frozen rows in a fixed number of queries."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Prefetch, prefetch_related_objects

from evalhub.llm.completion import AnswerTurn
from evalhub.llm.content.content_parts import IMAGE, Part, content_text, image_parts
from evalhub.models import Call, CallRole, ItemState, User
from evalhub.work.overview import Holding, holding_of
from issues.content.conversation import request_messages
from issues.content.message_form import turns_to_generate
from issues.content.revisions import scale_of
from issues.models import FrozenCriterion
from issues.rubrics.scoring import WHOLE_TEST
from runs.admin.result.adjudication import Adjudication, adjudication_of
from runs.admin.result.evaluation_entries import (
    Choice,
    EvaluationEntry,
    agreeing_choice,
    evaluation_entries_of,
    whole_choices,
)
from runs.admin.result.judge_runs import JudgeRunView, view_of
from runs.admin.result.rubric import Row
from runs.admin.result.score_breakdown import score_breakdown_of
from runs.figures.verdict_labels import Text, text_or_none
from runs.models import Answer, HumanEvaluation, Result
from runs.scoring.verdict import verdicts_on

LONG_CONVERSATION = 12
"""Turns up to which all of them are shown."""


@dataclass(frozen=True)
class Turn:
    """A message. `text` None: empty, or not generated yet. `documents` None: not reported."""

    number: int
    role: str
    text: Text | None
    tool_calls: str = ""
    refusal: str = ""
    ending: str = ""
    error: str = ""
    lost_images: Sequence[str] = ()
    images: Sequence[Part] = ()
    documents: Sequence[dict[str, str]] | None = None
    is_generated: bool = False
    is_answer: bool = False
    is_from_run: bool = False

    @property
    def title(self) -> str:
        return "answer" if self.is_answer else self.role.replace("_", " ")


class Conversation(NamedTuple):
    """Turns in order; those in the middle of a long conversation are folded."""

    first: Sequence[Turn]
    folded: Sequence[Turn]
    last: Sequence[Turn]

    @property
    def answer(self) -> Turn | None:
        return next((turn for turn in self.last if turn.is_answer), None)

    @property
    def total(self) -> int:
        return sum(map(len, self))

    @classmethod
    def of(cls, turns: Sequence[Turn]) -> "Conversation":
        """Fold what lies between the first turns and the last ones with the answer."""
        if len(turns) <= LONG_CONVERSATION:
            return cls((), (), turns)
        answer = next((turn.number for turn in turns if turn.is_answer), len(turns))
        last = min(len(turns) - 4, max(answer - 3, 2))
        return cls(turns[:2], turns[2:last], turns[last:])


@dataclass(frozen=True)
class ResultPage:
    """A result for one reader. Its texts are the reader's to see: the caller has checked.

    `calls` are those behind the answer, one per generated turn. `agreed` is the option that agrees
    with the judges; None: they gave no verdict.
    """

    result: Result
    answer: Answer | None
    turns: list[Turn]
    active: JudgeRunView
    inactive: list[JudgeRunView]
    calls: list[Call]
    failed_calls: list[Call]
    entries: list[EvaluationEntry]
    choices: list[Choice]
    agreed: Choice | None
    mine: HumanEvaluation | None
    score_breakdown: list[str]
    adjudication: Adjudication

    @property
    def conversation(self) -> Conversation:
        return Conversation.of(self.turns)

    @property
    def rows(self) -> list[Row]:
        """The rubric as it counts; empty without one."""
        return self.active.rows

    @property
    def awaits_judges(self) -> bool:
        """No judge of the rubric has been asked yet."""
        criteria = [row.verdict for row in self.rows]
        return any(found.replies for found in criteria) and not any(
            found.is_judged for found in criteria
        )

    @property
    def has_checks(self) -> bool:
        return any(row.check for row in self.rows)

    @property
    def language(self) -> str:
        """The answer's language (ISO 639) as a check of the test found it; "" where none did."""
        found = (
            row.criterion.arguments["language"]
            for row in self.rows
            if row.criterion.check_name == "language"
            and row.verdict.check
            and row.verdict.check.value == 1
        )
        return str(next(found, ""))

    @property
    def content(self) -> dict[str, Any]:
        return dict(self.result.revision.content)

    @property
    def may_be_evaluated(self) -> bool:
        return self.result.state == ItemState.DONE

    @property
    def holding(self) -> Holding | None:
        """The worker that is answering it now."""
        return holding_of(self.result)


def page_of(result: Result, reader: User) -> ResultPage:
    """Read the page of a result in a fixed number of queries."""
    criteria = Prefetch("revision__criteria", FrozenCriterion.objects.order_by("order"))
    prefetch_related_objects([result], criteria)
    answer: Answer | None = getattr(result, "answer", None)
    verdicts = verdicts_on(result, with_calls=True)
    passes = result.revision.passes
    entries = evaluation_entries_of(verdicts.evaluations, passes)
    own = [entry for entry in entries if entry.is_active_of(reader)]
    on_whole = [entry.evaluation for entry in own if entry.about == WHOLE_TEST]
    choices = whole_choices(scale_of(result.revision.template), passes)
    judged = verdicts.active.result_score
    call_ids = [turn["call"] for turn in answer.turns if turn.get("call")] if answer else []
    calls = Call.objects.in_bulk(call_ids)
    return ResultPage(
        result=result,
        answer=answer,
        turns=_turns(result, answer),
        active=view_of(verdicts.active, entries, reader),
        inactive=[view_of(verdict, (), reader) for verdict in verdicts.inactive],
        calls=[calls[pk] for pk in call_ids if pk in calls],
        failed_calls=_failed_calls(result),
        entries=entries,
        choices=choices,
        agreed=agreeing_choice(choices, judged.score, judged.passed) if judged else None,
        mine=on_whole[-1] if on_whole else None,
        score_breakdown=score_breakdown_of(verdicts.active),
        adjudication=adjudication_of(entries, reader),
    )


def _turns(result: Result, answer: Answer | None) -> list[Turn]:
    content = result.revision.content
    messages = request_messages(content["messages"], content["context"], result.run.system_prompt)
    generated: dict[int, AnswerTurn] = {}
    holes = turns_to_generate(messages)
    if answer:
        replies = [AnswerTurn(text=answer.text)] if answer.removed_at else answer.said()
        if answer.removed_at:
            replies *= len(holes)
        generated = dict(zip(holes, replies, strict=False))
    if len(messages) in holes:
        messages = [*messages, {"role": "assistant"}]
    turns = []
    for position, message in enumerate(messages):
        is_generated, reply = position in holes, generated.get(position, AnswerTurn())
        if is_generated:
            text, calls = text_or_none(reply.text), list(reply.tool_calls)
        else:
            text = text_or_none(content_text(message.get("content")))
            calls = message.get("tool_calls") or []
        turn = Turn(
            number=position + 1,
            role="assistant" if is_generated else message["role"],
            text=text,
            tool_calls=json.dumps(calls, indent=2, ensure_ascii=False) if calls else "",
            refusal=reply.refusal,
            ending=reply.ending.words if reply.ending else "",
            error=reply.error,
            lost_images=[one.get("alt", "") for one in reply.images if one.get("type") != IMAGE],
            images=image_parts(list(reply.images) or message.get("content")),
            documents=reply.documents,
            is_generated=is_generated,
            is_answer=is_generated and position == holes[-1],
            is_from_run=position == 0 and bool(result.run.system_prompt),
        )
        turns.append(turn)
    return turns


def _failed_calls(result: Result) -> list[Call]:
    """Return the failed attempts of a result in error; for others the search would be slow."""
    if result.state != ItemState.ERROR:
        return []
    calls = Call.objects.filter(
        batch=result.run.work_key, item_id=result.pk, role=CallRole.CANDIDATE
    )
    return list(calls.exclude(error_kind="").order_by("pk")[:10])
