"""What the page of one result shows, read from frozen rows in a fixed number of queries."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString, mark_safe

from evalhub.markup import model_markdown
from evalhub.models import Call, CallRole, ItemState, LanguageModel, User
from issues.conversation import turns_to_generate
from issues.freezing import scale_of
from issues.scales import Option
from runs.answering import with_system_prompt
from runs.judge_prompts import JudgePrompt, prompts_of
from runs.models import Answer, Assessment, HumanEvaluation, Judging, Judgment, Result
from runs.standing import standing, withdrawn


@dataclass(frozen=True)
class Text:
    """An untrusted text, as safe HTML and as it is."""

    html: SafeString
    raw: str

    @classmethod
    def of(cls, raw: str) -> "Text":
        # Sanitised to an allow-list of bare tags.
        return cls(mark_safe(model_markdown(raw).html), raw)


def words_of(label: str, value: float | None, passed: bool | None) -> str:
    """A verdict as people read it: "passes (1)" where the option is a mere number."""
    if label.replace(".", "", 1).isdecimal() and passed is not None:
        return f"{'passes' if passed else 'fails'} ({label})"
    return label if value is None else f"{label or 'verdict'} · {value:.2f}"


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
class Vote:
    """One judge's part in a judging. `judgment` None: it has not judged this result (yet)."""

    name: str
    litellm_model: str
    is_scripted: bool
    is_candidate: bool
    note: str
    judgment: Judgment | None
    justification: Text | None
    prompt: JudgePrompt | None
    passed: bool | None

    @property
    def words(self) -> str:
        verdict = self.judgment
        return words_of(verdict.option, verdict.value, self.passed) if verdict else ""


@dataclass(frozen=True)
class Hearing:
    """One judging's verdict on the result."""

    judging: Judging
    assessment: Assessment | None
    votes: list[Vote]


@dataclass(frozen=True)
class Said:
    """One human evaluation. It counts while it stands: neither withdrawn nor replaced."""

    evaluation: HumanEvaluation
    stands: bool
    is_withdrawn: bool
    passed: bool | None

    @property
    def words(self) -> str:
        return words_of(self.evaluation.option, self.evaluation.value, self.passed)


@dataclass(frozen=True)
class Choice:
    """One option of the test's scale, with the key that chooses it."""

    key: int
    option: Option
    passed: bool | None
    is_default: bool

    @property
    def words(self) -> str:
        return words_of(self.option.label, None, self.passed)


@dataclass(frozen=True)
class ResultPage:
    """All that the page shows of one result, for one reader."""

    result: Result
    answer: Answer | None
    turns: list[Turn]
    current: Hearing | None
    older: list[Hearing]
    calls: list[Call]
    failed_calls: list[Call]
    said: list[Said]
    choices: list[Choice]
    mine: HumanEvaluation | None

    @property
    def content(self) -> dict[str, Any]:
        return dict(self.result.revision.content)

    @property
    def reference(self) -> Text | None:
        return _text(self.content["reference"])

    @property
    def guidelines(self) -> Text | None:
        return _text(self.content["guidelines"])

    @property
    def context(self) -> Text | None:
        return _text(self.content["context"])

    @property
    def flagged_answer(self) -> Text | None:
        """As the test has it now: it is shown to nobody who answers or judges."""
        return _text(self.result.test.flagged_answer)

    @property
    def reasoning(self) -> str:
        return self.answer.reasoning if self.answer else ""

    @property
    def may_be_evaluated(self) -> bool:
        return self.result.state == ItemState.DONE

    @property
    def has_other_verdicts(self) -> bool:
        mine = self.mine.annotator_id if self.mine else None
        return any(said.stands and said.evaluation.annotator_id != mine for said in self.said)


def page_of(result: Result, reader: User) -> ResultPage:
    """Read what stands about a result. Texts are the reader's to see: the caller has checked."""
    answer = Answer.objects.filter(pk=result.pk).first()
    hearings = _hearings(result)
    current = next((hearing for hearing in hearings if hearing.judging.is_current), None)
    said = _said(result)
    mine = [s.evaluation for s in said if s.stands and s.evaluation.annotator_id == reader.pk]
    return ResultPage(
        result=result,
        answer=answer,
        turns=_turns(result, answer),
        current=current,
        older=[hearing for hearing in reversed(hearings) if hearing is not current],
        calls=_calls(answer),
        failed_calls=_failed_calls(result),
        said=said,
        choices=_choices(result, current, has_own=bool(mine)),
        mine=mine[-1] if mine else None,
    )


def _text(raw: str) -> Text | None:
    return Text.of(raw) if raw else None


# The conversation --------------------------------------------------------------------------------


def _turns(result: Result, answer: Answer | None) -> list[Turn]:
    own = result.revision.content["messages"]
    messages = with_system_prompt(own, result.run.system_prompt)
    holes = turns_to_generate(messages)
    said = [turn["content"] for turn in answer.turns] if answer else []
    if answer and not said:
        said = [answer.text]
    generated = dict(zip(holes, said, strict=False))
    shown = [*messages, {"role": "assistant"}] if len(messages) in holes else messages
    calls = json.dumps(answer.tool_calls, indent=2) if answer and answer.tool_calls else ""
    return [
        _generated(generated.get(position), position == holes[-1], calls)
        if position in holes
        else _given(message, is_from_run=position == 0 and bool(result.run.system_prompt))
        for position, message in enumerate(shown)
    ]


def _generated(said: str | None, is_answer: bool, tool_calls: str) -> Turn:
    text = None if said is None else Text.of(said)
    calls = tool_calls if is_answer else ""
    return Turn("assistant", text, calls, is_generated=True, is_answer=is_answer)


def _given(message: dict[str, Any], *, is_from_run: bool) -> Turn:
    calls = message.get("tool_calls")
    return Turn(
        role=message["role"],
        text=_text(str(message.get("content") or "")),
        tool_calls=json.dumps(calls, indent=2, ensure_ascii=False) if calls else "",
        is_from_run=is_from_run,
    )


# What judges said --------------------------------------------------------------------------------


def _hearings(result: Result) -> list[Hearing]:
    judgings = list(Judging.objects.filter(run=result.run_id).select_related("run"))
    assessments = {row.judging_id: row for row in Assessment.objects.filter(result=result)}
    judgments: dict[int, list[Judgment]] = defaultdict(list)
    rows = Judgment.objects.filter(result=result).select_related("call", "criterion")
    for row in rows.order_by("pk"):
        judgments[row.judging_id].append(row)
    models = LanguageModel.objects.in_bulk(
        {judge["endpoint"]["language_model_id"] for row in judgings for judge in _judges(row)}
    )
    notes = {pk: model.note for pk, model in models.items()}
    return [
        Hearing(
            judging,
            assessments.get(judging.pk),
            _votes(result, judging, judgments[judging.pk], notes),
        )
        for judging in sorted(judgings, key=lambda judging: judging.number)
    ]


def _judges(judging: Judging) -> list[dict[str, Any]]:
    return list(judging.jury.get("judges", ()))


def _votes(
    result: Result, judging: Judging, judgments: Sequence[Judgment], notes: dict[int, str]
) -> list[Vote]:
    prompts = prompts_of(judging, result, judgments) if judgments else {}
    given: dict[int | None, list[Judgment]] = defaultdict(list)
    for judgment in judgments:
        given[judgment.judge_id].append(judgment)
    return [
        _vote(result, judge, judgment, prompts, notes)
        for judge in _judges(judging)
        for judgment in given[judge.get("judge")] or (None,)
    ]


def _vote(
    result: Result,
    judge: dict[str, Any],
    judgment: Judgment | None,
    prompts: dict[int, JudgePrompt],
    notes: dict[int, str],
) -> Vote:
    endpoint = judge["endpoint"]
    candidate = result.run.endpoint
    same = [endpoint.get(part) == candidate.get(part) for part in ("litellm_model", "api_base")]
    value = judgment.value if judgment else None
    return Vote(
        name=judge.get("name") or endpoint["name"],
        litellm_model=endpoint["litellm_model"],
        is_scripted=bool(endpoint.get("is_scripted")),
        is_candidate=all(same),
        note=notes.get(endpoint["language_model_id"], ""),
        judgment=judgment,
        justification=_text(judgment.justification) if judgment else None,
        prompt=prompts.get(judgment.pk) if judgment else None,
        passed=result.revision.passes(value),
    )


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


def _said(result: Result) -> list[Said]:
    rows = list(
        HumanEvaluation.objects.filter(result=result).select_related("annotator").order_by("pk")
    )
    passes = result.revision.passes
    standing_ids = {row.pk for row in standing(rows)}
    withdrawn_ids = {row.pk for row in withdrawn(rows)}
    return [
        Said(row, row.pk in standing_ids, row.pk in withdrawn_ids, passes(row.value))
        for row in rows
    ]


def _choices(result: Result, current: Hearing | None, *, has_own: bool) -> list[Choice]:
    """The scale's options, best first; the opposite of the judges' verdict is chosen already."""
    scale = scale_of(result.revision.template)
    options = sorted(scale.options, key=lambda option: -option.value)
    assessment = current.assessment if current else None
    judged = assessment.passed if assessment and not has_own else None
    default = None
    if judged is not None:
        extreme = min if judged else max
        default = extreme(options, key=lambda option: option.value)
    return [
        Choice(key, option, result.revision.passes(option.value), option is default)
        for key, option in enumerate(options, 1)
    ]
