"""Tasks of a judge run: the judgments that are missing of each result, read before any call."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import F

from evalhub.llm.endpoint import Endpoint
from evalhub.models import Call
from issues.checks import Material, text_of
from issues.models import FrozenCriterion, Test
from issues.rubrics.scoring import WHOLE_TEST
from runs.judging.jury import FrozenJudge, FrozenJury, frozen_jury_of
from runs.judging.prompts import JudgedAnswer, JudgePromptTemplate
from runs.models import JudgeRun, Judgment, JudgmentState, Result, ResultScore, Run

RETRY = "retry"
"""Error kind of a result score whose failed judgments are retried: those made before the time in
its error message, so that none is retried twice when a worker dies."""


@dataclass(frozen=True)
class JudgeRequest:
    """A missing judgment of one judge on one criterion.

    Without a `prompt_template` the judgment fails. `judgment_id` is the failed one to replace.
    `repair_model` repairs an unreadable reply; None lets the judge repair it.
    """

    frozen_judge: FrozenJudge
    prompt_template: JudgePromptTemplate | None
    criterion_id: int
    key: str
    sample: int = 0
    is_backup: bool = False
    judgment_id: int | None = None
    repair_model: Endpoint | None = None


@dataclass(frozen=True)
class CheckTask:
    """A missing judgment of a check."""

    name: str
    arguments: dict[str, Any]
    criterion_id: int
    judgment_id: int | None


@dataclass
class CriterionTask:
    """A criterion of a result, or the whole test, with its missing judgments.

    `backup` is called if a judge fails or failed earlier (`has_failed`).
    """

    judge_requests: list[JudgeRequest] = field(default_factory=list)
    check_task: CheckTask | None = None
    backup: JudgeRequest | None = None
    has_failed: bool = False


class SimilarityTask(NamedTuple):
    """An answer's last turn and its reference; `endpoint` None is the built-in embedder."""

    answer: str
    reference: str
    endpoint: Endpoint | None


class CallCost(NamedTuple):
    """Cost of a call in US dollars; None if unknown."""

    usd: Decimal | None
    is_failed: bool


@dataclass
class JudgingTask:
    """A result score to make: the case, and the judgments that are missing.

    `sealed` are the sealed tests whose text its calls carry. `earlier` are the costs of calls by
    a worker that gave the item back or died.
    """

    item_id: int
    judge_run_id: int
    result_id: int
    case: JudgedAnswer
    material: Material
    criterion_tasks: list[CriterionTask]
    similarity_task: SimilarityTask | None = None
    earlier: list[CallCost] = field(default_factory=list)
    sealed: list[int] = field(default_factory=list)


class JudgmentStatus(NamedTuple):
    """Status of a judgment; `judgment_id` is None before the first attempt."""

    judgment_id: int | None
    is_missing: bool
    has_failed: bool


@dataclass(frozen=True)
class ExistingJudgments:
    """Existing judgments of a result by criterion, judge and sample.

    Those that failed before `retried_at` count as missing.
    """

    judgments: Mapping[tuple[int, int | None, int], Judgment]
    retried_at: datetime | None

    def of(
        self, criterion: FrozenCriterion, judge_id: int | None, sample: int = 0
    ) -> JudgmentStatus:
        before = self.judgments.get((criterion.pk, judge_id, sample))
        if before is None:
            return JudgmentStatus(None, is_missing=True, has_failed=False)
        has_failed = before.state == JudgmentState.FAILED
        is_past = self.retried_at is not None and before.created_at < self.retried_at
        return JudgmentStatus(before.pk, is_missing=has_failed and is_past, has_failed=has_failed)


def judging_tasks(judge_run: JudgeRun, result_score_ids: Sequence[int]) -> list[JudgingTask]:
    """Return the tasks of these result scores, each with exactly its missing judgments."""
    result_scores = list(
        ResultScore.objects.filter(pk__in=result_score_ids)
        .select_related("result__answer", "result__revision__template")
        .annotate(is_sealed=F("result__test__sealed"))
        .prefetch_related("result__revision__criteria")
    )
    frozen_jury = frozen_jury_of(judge_run)
    known = _existing_judgments(
        judge_run, [result_score.result_id for result_score in result_scores]
    )
    earlier = _earlier(judge_run, [a.pk for a in result_scores if a.result_id in known])
    own_prompts: dict[int, JudgePromptTemplate] = {}
    made = [
        JudgingTask(
            item_id=result_score.pk,
            judge_run_id=judge_run.pk,
            result_id=result_score.result_id,
            case=judged_answer_of(result_score.result, judge_run.run.system_prompt),
            material=material_of(result_score.result),
            criterion_tasks=_criterion_tasks(
                judge_run.run,
                result_score.result,
                frozen_jury,
                ExistingJudgments(known[result_score.result_id], _retried_at(result_score)),
                own_prompts,
            ),
            similarity_task=_similarity_task(judge_run.run, result_score.result),
            earlier=earlier[result_score.pk],
            sealed=[result_score.result.test_id] if result_score.is_sealed else [],
        )
        for result_score in result_scores
    ]
    _add_sealed_examples(made)
    return made


def _add_sealed_examples(made: Sequence[JudgingTask]) -> None:
    """Add tests of examples that have been sealed since to the sealed tests of each task."""
    taught = [_example_tests(judging_task) for judging_task in made]
    tests = set().union(*taught)
    if not tests:
        return
    sealed = set(Test.objects.filter(pk__in=tests, sealed=True).values_list("pk", flat=True))
    for judging_task, shown in zip(made, taught, strict=True):
        judging_task.sealed += sorted((shown & sealed) - {*judging_task.sealed})


def _example_tests(judging_task: JudgingTask) -> set[int]:
    """Return the tests of all examples in the templates of its judges."""
    asked = [
        judge_request
        for criterion_task in judging_task.criterion_tasks
        for judge_request in (
            *criterion_task.judge_requests,
            *([criterion_task.backup] if criterion_task.backup else ()),
        )
    ]
    prompt_templates = {
        q.prompt_template.template_id: q.prompt_template
        for q in asked
        if q.prompt_template is not None
    }
    rows = [
        row
        for prompt_template in prompt_templates.values()
        for row in prompt_template.examples.rows
    ]
    return {row.test_id for row in rows if row.test_id is not None}


def _earlier(judge_run: JudgeRun, result_score_ids: list[int]) -> dict[int, list[CallCost]]:
    """Return the costs of earlier calls, by result score."""
    costs: dict[int, list[CallCost]] = defaultdict(list)
    if result_score_ids:
        calls = Call.objects.filter(
            batch=judge_run.work_key, item_id__in=result_score_ids
        ).order_by()
        for call in calls.only("item_id", "cost_usd", "error_kind"):
            assert call.item_id is not None  # it was found by it
            costs[call.item_id].append(CallCost(call.cost_usd, bool(call.error_kind)))
    return costs


def judged_answer_of(result: Result, system_prompt: str) -> JudgedAnswer:
    """Return a result as judges see it."""
    return JudgedAnswer(result.revision.content, system_prompt, _turns(result), result.test_id)


def material_of(result: Result) -> Material:
    """Return a result as checks see it."""
    answer = result.answer
    earlier = [call for turn in answer.turns[:-1] for call in turn.get("tool_calls", ())]
    return Material(
        text=text_of(_turns(result)),
        tool_calls=[*earlier, *answer.tool_calls],
        latency_ms=result.latency_ms,
        cost_usd=result.cost_usd,
    )


def _turns(result: Result) -> list[str]:
    """Return the candidate's turns; an answer without turns is one."""
    return [turn["content"] for turn in result.answer.turns] or [result.answer.text]


def _similarity_task(run: Run, result: Result) -> SimilarityTask | None:
    """Return the similarity to measure; None if it is not wanted or already measured."""
    if result.similarity is not None or not run.wants_similarity:
        return None
    return SimilarityTask(result.answer.text, result.revision.content["reference"], run.embedder())


def _existing_judgments(
    judge_run: JudgeRun, result_ids: list[int]
) -> dict[int, dict[tuple[int, int | None, int], Judgment]]:
    """Return the existing judgments, by result."""
    known: dict[int, dict[tuple[int, int | None, int], Judgment]] = defaultdict(dict)
    for row in Judgment.objects.filter(judge_run=judge_run, result__in=result_ids):
        known[row.result_id][row.criterion_id, row.judge_id, row.sample] = row
    return known


def _retried_at(result_score: ResultScore) -> datetime | None:
    """Return when its failed judgments were retried; None if they were not."""
    is_retry = result_score.error_kind == RETRY
    return datetime.fromisoformat(result_score.error_message) if is_retry else None


def _criterion_tasks(
    run: Run,
    result: Result,
    frozen_jury: FrozenJury,
    known: ExistingJudgments,
    own_prompts: dict[int, JudgePromptTemplate],
) -> list[CriterionTask]:
    """Return the tasks of each criterion, or of the whole test without a rubric."""
    criteria = list(result.revision.criteria.all())
    rubric = [criterion for criterion in criteria if criterion.key != WHOLE_TEST]
    criterion_tasks = []
    if not rubric and _is_left_to_similarity(run, result, frozen_jury):
        return []
    for criterion in rubric or criteria:
        if criterion.check_name:
            criterion_tasks.append(CriterionTask(check_task=_check_task(criterion, known)))
        else:
            prompt_template = None if criterion.key else _own_prompt(result, own_prompts)
            criterion_tasks.append(_criterion_task(criterion, frozen_jury, prompt_template, known))
    return criterion_tasks


def _is_left_to_similarity(run: Run, result: Result, frozen_jury: FrozenJury) -> bool:
    """Return whether similarity alone scores this test, for no judge has a template for it."""
    if not run.score_by_similarity or result.revision.template_id:
        return False
    return not any(frozen_judge.whole for frozen_judge in frozen_jury.judges_asked(on_rubric=False))


def _check_task(criterion: FrozenCriterion, known: ExistingJudgments) -> CheckTask | None:
    found = known.of(criterion, None)
    if not found.is_missing:
        return None
    return CheckTask(criterion.check_name, criterion.arguments, criterion.pk, found.judgment_id)


def _criterion_task(
    criterion: FrozenCriterion,
    frozen_jury: FrozenJury,
    own: JudgePromptTemplate | None,
    known: ExistingJudgments,
) -> CriterionTask:
    criterion_task = CriterionTask()
    for frozen_judge in frozen_jury.judges_asked(on_rubric=criterion.key != WHOLE_TEST):
        for sample in range(frozen_judge.samples):
            found = known.of(criterion, frozen_judge.judge_id, sample)
            if found.is_missing:
                judge_request = _judge_request(
                    criterion, frozen_judge, own, found, frozen_jury.repair_models, sample=sample
                )
                criterion_task.judge_requests.append(judge_request)
            else:
                criterion_task.has_failed |= found.has_failed
    if (
        frozen_jury.backup
        and (found := known.of(criterion, frozen_jury.backup.judge_id)).is_missing
    ):
        backup = frozen_jury.backup
        criterion_task.backup = _judge_request(
            criterion, backup, own, found, frozen_jury.repair_models, is_backup=True
        )
    return criterion_task


def _judge_request(
    criterion: FrozenCriterion,
    frozen_judge: FrozenJudge,
    own: JudgePromptTemplate | None,
    found: JudgmentStatus,
    repair_models: Mapping[int, Endpoint],
    *,
    sample: int = 0,
    is_backup: bool = False,
) -> JudgeRequest:
    prompt_template = (
        frozen_judge.whole or own if criterion.key == WHOLE_TEST else frozen_judge.rubric
    )
    return JudgeRequest(
        frozen_judge,
        prompt_template,
        criterion.pk,
        criterion.key,
        sample,
        is_backup,
        found.judgment_id,
        repair_models.get(prompt_template.template_id) if prompt_template else None,
    )


def _own_prompt(
    result: Result, prompt_templates: dict[int, JudgePromptTemplate]
) -> JudgePromptTemplate | None:
    """Return the test's own template; None if it has none."""
    template = result.revision.template
    if template is None:
        return None
    if template.pk not in prompt_templates:
        prompt_templates[template.pk] = JudgePromptTemplate.of(template)
    return prompt_templates[template.pk]
