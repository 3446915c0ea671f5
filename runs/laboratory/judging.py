"""Judging answers on the spot: nothing of it is stored but its calls."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from evalhub.llm.applications.application_reply import document_of, tool_call_of
from evalhub.llm.completion import AnswerTurn
from evalhub.llm.verdicts.judge_replies import ParsedVerdict
from evalhub.work.calls.direct_caller import DirectCaller
from issues.checks import CHECKS, Material
from issues.content.revisions import asked_digest, scale_of
from issues.judge_templates.preview import placeholders
from issues.models import Criterion
from issues.rubrics.draft import Draft
from issues.rubrics.scales import Scale, passes
from issues.rubrics.scoring import WHOLE_TEST, Point, jury_value, score_of
from runs.answering.work import documents_in
from runs.judging.ask_judge import JudgeReply, ask_judge, run_check
from runs.judging.jury import FrozenJudge, FrozenJury
from runs.judging.prompts import JudgedAnswer, JudgePromptTemplate
from runs.judging.tasks import material_in
from runs.judging.work import all_or_none
from runs.models import Method
from runs.models.jury import CALLS

WHOLE = Criterion(key=WHOLE_TEST)


class Answer(NamedTuple):
    """An answer to judge. `should_pass` None: it is not known whether it should."""

    title: str
    draft: Draft
    turns: Sequence[AnswerTurn]
    should_pass: bool | None
    material: Material
    documents: list[dict[str, str]] | None = None

    @classmethod
    def given(cls, title: str, draft: Draft, text: str, *, should_pass: bool) -> "Answer":
        """Return a written answer to the last turn."""
        turns = [*placeholders(draft.content["messages"]), AnswerTurn(text=text)]
        return cls(title, draft, turns, should_pass, Material(text))


class Opinion(NamedTuple):
    """A judgment of one judge or check. `option` "": it failed, and `reasons` say why."""

    judge: str
    option: str
    value: float | None
    reasons: str
    judge_id: int | None = None


@dataclass
class JudgedCriterion:
    criterion: Criterion
    opinions: list[Opinion]

    @property
    def value(self) -> float | None:
        """Return the consensus in [0, 1]; None if all failed."""
        samples: dict[int | None, list[float | None]] = defaultdict(list)
        for opinion in self.opinions:
            samples[opinion.judge_id].append(opinion.value)
        return jury_value(samples)

    def point(self) -> Point:
        return self.criterion.point(self.value)


@dataclass
class ScoredAnswer:
    """An answer with its judgments, score in [0, 1] and outcome; None: not scored."""

    answer: Answer
    criteria: list[JudgedCriterion]
    score: float | None
    passed: bool | None

    @property
    def is_as_expected(self) -> bool | None:
        """Tell whether the outcome is the expected one; None if either is unknown."""
        if self.passed is None or self.answer.should_pass is None:
            return None
        return self.passed == self.answer.should_pass


@dataclass(frozen=True)
class Judging:
    """A jury with the templates that it uses.

    `own` are the tests' templates by id. `chosen` is the scale of the judges' own template for
    whole tests; None: the test's.
    """

    jury: FrozenJury
    own: dict[int, JudgePromptTemplate] = field(default_factory=dict)
    chosen: Scale | None = None

    def calls(self, draft: Draft) -> int:
        """Return the fewest calls for one answer, without repairs."""
        return sum(CALLS[Method(judge.method)][0] for _, judge in self._asked(draft))

    def _asked(self, draft: Draft) -> Iterator[tuple[Criterion, FrozenJudge]]:
        for point in draft.points or [WHOLE]:
            if not point.check_name:
                for judge in self.jury.judges_asked(on_rubric=bool(draft.points)):
                    yield from [(point, judge)] * judge.samples

    def template_of(self, judge: FrozenJudge, draft: Draft) -> JudgePromptTemplate | None:
        own = self.own.get(draft.template.pk) if draft.template else None
        return judge.rubric if draft.points else judge.whole or own

    async def judge(self, answer: Answer, caller: DirectCaller) -> ScoredAnswer:
        """Judge an answer as a judge run would, without its backup judge."""
        draft = answer.draft
        case = JudgedAnswer(draft.content, "", answer.turns, draft.test_id, answer.documents)
        checked = [point for point in draft.points if point.check_name]
        asked = list(self._asked(draft))
        found = await all_or_none(
            [
                *(_checked(point, answer.material) for point in checked),
                *(self._opinion(judge, draft, case, point, caller) for point, judge in asked),
            ]
        )
        by_key: dict[str, list[Opinion]] = defaultdict(list)
        for point, opinion in zip([*checked, *(p for p, _ in asked)], found, strict=True):
            by_key[point.key].append(opinion)
        return self.scored(answer, by_key)

    def scored(self, answer: Answer, opinions: Mapping[str, list[Opinion]]) -> ScoredAnswer:
        """Score an answer by the opinions on each of its criteria, by key."""
        draft = answer.draft
        criteria = [
            JudgedCriterion(row, opinions.get(row.key, [])) for row in draft.points or [WHOLE]
        ]
        scale = (None if draft.points else self.chosen) or scale_of(draft.template)
        threshold = scale.threshold if draft.own_threshold is None else draft.own_threshold
        score = score_of([judged.point() for judged in criteria], scale.passes)
        return ScoredAnswer(answer, criteria, score, passes(score, threshold, scale.rule))

    async def _opinion(
        self,
        judge: FrozenJudge,
        draft: Draft,
        case: JudgedAnswer,
        point: Criterion,
        caller: DirectCaller,
    ) -> Opinion:
        template = self.template_of(judge, draft)
        repair_model = self.jury.repair_models.get(template.template_id) if template else None
        reply = await ask_judge(judge, template, case, point.key, caller, repair_model=repair_model)
        return _opinion_of(judge.name, reply, judge.judge_id)


async def _checked(point: Criterion, material: Material) -> Opinion:
    check = CHECKS.get(point.check_name)
    name = f"check “{check.title if check else point.check_name}”"
    return _opinion_of(name, await run_check(point.check_name, point.arguments, material))


def _opinion_of(
    name: str, reply: JudgeReply[ParsedVerdict], judge_id: int | None = None
) -> Opinion:
    verdict = reply.verdict
    if verdict is None:
        return Opinion(name, "", None, reply.message, judge_id)
    return Opinion(name, verdict.option, verdict.value, verdict.justification, judge_id)


def replied(draft: Draft, reply: dict[str, Any]) -> Answer | None:
    """Return a model's reply as the page holds it; None if it is one to other input."""
    sent, latency_ms, cost_usd = map(reply.get, ("turns", "latency_ms", "cost_usd"))
    if not isinstance(sent, list) or reply.get("asked") != asked_digest(draft.content):
        return None
    turns = [_turn(one) for one in sent if isinstance(one, Mapping)]
    material = material_in(
        turns,
        latency_ms=latency_ms if isinstance(latency_ms, int) else None,
        cost_usd=cost_usd if isinstance(cost_usd, int | float) else None,
    )
    documents = documents_in([turn.stored() for turn in turns])
    return Answer("Reply", draft, turns, None, material, documents)


def _turn(sent: Mapping[str, Any]) -> AnswerTurn:
    """Return a turn that a browser sent back, whatever is in it."""
    texts = {
        name: str(sent.get(name) or "")
        for name in ("content", "refusal", "reasoning", "finish_reason", "error")
    }
    found, documents = AnswerTurn.of(texts), sent.get("documents")
    return replace(
        found,
        tool_calls=tuple(map(tool_call_of, _listed(sent.get("tool_calls")))),
        images=tuple(part for part in _listed(sent.get("images")) if isinstance(part, dict)),
        documents=None if documents is None else tuple(map(document_of, _listed(documents))),
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def written(draft: Draft, kinds: Sequence[str], *, of: str = "") -> list[Answer]:
    """Return the draft's flagged answer and reference, as far as wanted and filled in."""
    flagged, reference = draft.flagged_answer.strip(), draft.content["reference"].strip()
    found = []
    if "flagged" in kinds and flagged:
        found.append(Answer.given(f"Flagged answer{of}", draft, flagged, should_pass=False))
    if "reference" in kinds and reference:
        found.append(Answer.given(f"Reference answer{of}", draft, reference, should_pass=True))
    return found
