"""What the page of one result shows, read from frozen rows in a fixed number of queries."""

import json
from dataclasses import dataclass
from typing import Any

from django.db.models import prefetch_related_objects

from evalhub.models import Call, CallRole, ItemState, User
from issues.conversation import turns_to_generate
from issues.revisions import scale_of
from runs.admin.result.adjudication import Adjudication, adjudication_of
from runs.admin.result.judge_runs import JudgeRunView, ResultJudgeRuns
from runs.admin.result.page_parts import (
    Choice,
    EvaluationEntry,
    Text,
    evaluation_entries_of,
    text_or_none,
    whole_choices,
)
from runs.admin.result.rubric import Row
from runs.answering.work import with_system_prompt
from runs.models import Answer, HumanEvaluation, Result


@dataclass(frozen=True)
class Turn:
    """One message. `text` None: nothing was said there (yet)."""

    role: str
    text: Text | None
    tool_calls: str = ""
    is_generated: bool = False
    is_answer: bool = False
    is_from_run: bool = False


@dataclass(frozen=True)
class ResultPage:
    """All that the page shows of one result, for one reader."""

    result: Result
    answer: Answer | None
    turns: list[Turn]
    current: JudgeRunView | None
    older: list[JudgeRunView]
    calls: list[Call]
    failed_calls: list[Call]
    said: list[EvaluationEntry]
    choices: list[Choice]
    mine: HumanEvaluation | None
    rows: list[Row]
    score_breakdown: list[str]
    pass_rule: str
    is_scored_whole: bool
    adjudication: Adjudication

    @property
    def awaits_judges(self) -> bool:
        """Whether the judges of its rubric are still to be asked."""
        return any(row.judge_verdict for row in self.rows) and not any(
            row.is_judged for row in self.rows
        )

    @property
    def has_checks(self) -> bool:
        return any(row.check for row in self.rows)

    @property
    def content(self) -> dict[str, Any]:
        return dict(self.result.revision.content)

    @property
    def reference(self) -> Text | None:
        return text_or_none(self.content["reference"])

    @property
    def guidelines(self) -> Text | None:
        return text_or_none(self.content["guidelines"])

    @property
    def context(self) -> Text | None:
        return text_or_none(self.content["context"])

    @property
    def flagged_answer(self) -> Text | None:
        """As the test has it now: it is shown to nobody who answers or judges."""
        return text_or_none(self.result.test.flagged_answer)

    @property
    def reasoning(self) -> str:
        return self.answer.reasoning if self.answer else ""

    @property
    def may_be_evaluated(self) -> bool:
        return self.result.state == ItemState.DONE


def page_of(result: Result, reader: User) -> ResultPage:
    """Read what stands about a result. Texts are the reader's to see: the caller has checked."""
    prefetch_related_objects([result], "revision__criteria")
    answer = Answer.objects.filter(pk=result.pk).first()
    said = _said(result)
    judge_runs = ResultJudgeRuns.of(result, said, reader)
    judging_tasks = judge_runs.judging_tasks()
    current = next(
        (judging_task for judging_task in judging_tasks if judging_task.judge_run.is_active), None
    )
    mine = [
        s.evaluation
        for s in said
        if s.is_active and not s.about and s.evaluation.annotator_id == reader.pk
    ]
    return ResultPage(
        result=result,
        answer=answer,
        turns=_turns(result, answer),
        current=current,
        older=[
            judging_task for judging_task in reversed(judging_tasks) if judging_task is not current
        ],
        calls=_calls(answer),
        failed_calls=_failed_calls(result),
        said=said,
        choices=_choices(result, current, has_own=bool(mine)),
        mine=mine[-1] if mine else None,
        rows=judge_runs.rows,
        score_breakdown=judge_runs.score_breakdown(),
        pass_rule=judge_runs.pass_rule(),
        is_scored_whole=judge_runs.whole is not None,
        adjudication=adjudication_of(said, reader),
    )


# The conversation --------------------------------------------------------------------------------


def _turns(result: Result, answer: Answer | None) -> list[Turn]:
    own = result.revision.content["messages"]
    messages = with_system_prompt(own, result.run.system_prompt)
    holes = turns_to_generate(messages)
    generated = dict(zip(holes, _generated_turns(answer) if answer else [], strict=False))
    shown = [*messages, {"role": "assistant"}] if len(messages) in holes else messages
    return [
        _generated(generated.get(position), is_answer=position == holes[-1])
        if position in holes
        else _given(message, is_from_run=position == 0 and bool(result.run.system_prompt))
        for position, message in enumerate(shown)
    ]


def _generated_turns(answer: Answer) -> list[dict[str, Any]]:
    """The generated turns; what the last called stands with the answer."""
    *earlier, last = answer.turns or [{"content": answer.text}]
    return [*earlier, {**last, "tool_calls": answer.tool_calls}]


def _generated(said: dict[str, Any] | None, *, is_answer: bool) -> Turn:
    return Turn(
        role="assistant",
        text=None if said is None else Text.of(said["content"]),
        tool_calls=_as_text(said.get("tool_calls")) if said else "",
        is_generated=True,
        is_answer=is_answer,
    )


def _given(message: dict[str, Any], *, is_from_run: bool) -> Turn:
    return Turn(
        role=message["role"],
        text=text_or_none(str(message.get("content") or "")),
        tool_calls=_as_text(message.get("tool_calls")),
        is_from_run=is_from_run,
    )


def _as_text(calls: Any) -> str:
    """Tool calls as a page shows them; "" where there are none."""
    return json.dumps(calls, indent=2, ensure_ascii=False) if calls else ""


# What it took ------------------------------------------------------------------------------------


def _calls(answer: Answer | None) -> list[Call]:
    """The calls that made the answer, one for each generated turn."""
    ids = [turn["call"] for turn in answer.turns if turn.get("call")] if answer else []
    known = Call.objects.in_bulk(ids)
    return [known[pk] for pk in ids if pk in known]


def _failed_calls(result: Result) -> list[Call]:
    """Tries that failed; read only where the result is an error, for they are many to look in."""
    if result.state != ItemState.ERROR:
        return []
    calls = Call.objects.filter(
        batch=result.run.work_key, item_id=result.pk, role=CallRole.CANDIDATE
    )
    return list(calls.exclude(error_kind="").order_by("pk")[:10])


# What people said --------------------------------------------------------------------------------


def _said(result: Result) -> list[EvaluationEntry]:
    rows = HumanEvaluation.objects.filter(result=result)
    found = rows.select_related("annotator", "criterion", "example").order_by("pk")
    return evaluation_entries_of(list(found), result.revision.passes)


def _choices(result: Result, current: JudgeRunView | None, *, has_own: bool) -> list[Choice]:
    result_score = current.result_score if current else None
    judged = result_score.passed if result_score and not has_own else None
    return whole_choices(scale_of(result.revision.template), result.revision.passes, judged=judged)
