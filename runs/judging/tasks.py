"""Tasks of a judge run: the judgments that are missing of each result, read before any call."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import F

from evalhub.llm.completion import AnswerTurn
from evalhub.llm.endpoint import Endpoint
from evalhub.models import User
from evalhub.refusals import Refused
from evalhub.work.spending import Costs, earlier_costs
from issues.checks import Material, text_of
from issues.judge_templates.prompts import PromptError
from issues.models import FrozenCriterion, Test
from issues.rubrics.scoring import WHOLE_TEST
from runs.answering.endings import Handling
from runs.judging.jury import (
    FrozenJudge,
    FrozenJury,
    frozen_jury_of,
    prompt_templates_of,
    templates_in,
)
from runs.judging.methods import JudgeCall
from runs.judging.prompts import JudgedAnswer, JudgePromptTemplate
from runs.models import JudgeRun, Judgment, JudgmentState, Result, ResultScore, Run

RETRY = "retry"
"""Error kind of a result score whose failed judgments are retried: those made before the time in
its error message, so that none is retried twice when a worker dies."""


@dataclass(frozen=True)
class JudgeRequest:
    """A missing judgment of one judge on one criterion.

    Without a `prompt_template` the judgment fails. `judgment_id` is the failed one to replace.
    `repair_model` repairs an unreadable reply; None lets the judge repair it. `first`
    is what the judge is asked first, once it was made, and `digest` is of all that its verdict
    depends on.
    """

    frozen_judge: FrozenJudge
    prompt_template: JudgePromptTemplate | None
    criterion_id: int
    key: str
    sample: int = 0
    is_backup: bool = False
    judgment_id: int | None = None
    repair_model: Endpoint | None = None
    first: JudgeCall | None = None
    digest: str = ""


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

    `backup` is called if a judge fails or failed earlier (`has_failed`). `kept` are judgments of
    another judge run, to be saved in this one.
    """

    judge_requests: list[JudgeRequest] = field(default_factory=list)
    check_task: CheckTask | None = None
    backup: JudgeRequest | None = None
    has_failed: bool = False
    kept: list[Judgment] = field(default_factory=list)


class SimilarityTask(NamedTuple):
    """An answer's last turn and its reference; `endpoint` None is the built-in embedder."""

    answer: str
    reference: str
    endpoint: Endpoint | None


@dataclass
class JudgingTask:
    """A result score to make: the case, and the judgments that are missing.

    `sealed` are the sealed tests whose text its calls carry. `earlier` are the costs of calls by
    a worker that gave the item back or died. `takes_known_verdicts`: see
    `runs.judging.equal_requests`.
    """

    item_id: int
    judge_run_id: int
    result_id: int
    case: JudgedAnswer
    material: Material
    criterion_tasks: list[CriterionTask]
    similarity_task: SimilarityTask | None = None
    earlier: Costs = field(default_factory=dict)
    sealed: list[int] = field(default_factory=list)
    repeat: int = 0
    takes_known_verdicts: bool = False


Place = tuple[int, int | None, int]
"""Criterion, judge and sample of a judgment."""


@dataclass(frozen=True)
class ExistingJudgments:
    """Existing judgments of a result by criterion, judge and sample.

    Those that failed before `retried_at` count as missing.
    """

    judgments: Mapping[Place, Judgment]
    retried_at: datetime | None

    def of(
        self, criterion: FrozenCriterion, judge_id: int | None, sample: int = 0
    ) -> Judgment | None:
        return self.judgments.get((criterion.pk, judge_id, sample))

    def is_missing(self, judgment: Judgment | None) -> bool:
        if judgment is None:
            return True
        is_past = self.retried_at is not None and judgment.created_at < self.retried_at
        return judgment.state == JudgmentState.FAILED and is_past


def judging_tasks(judge_run: JudgeRun, result_score_ids: Sequence[int]) -> list[JudgingTask]:
    """Return the tasks of these result scores, each with exactly its missing judgments."""
    result_scores = list(
        ResultScore.objects.filter(pk__in=result_score_ids)
        .select_related("result__answer", "result__revision")
        .annotate(is_sealed=F("result__test__sealed"))
        .prefetch_related("result__revision__criteria")
    )
    own_ids = {row.result.revision.template_id for row in result_scores}
    templates = prompt_templates_of(own_ids | templates_in(judge_run.jury))
    jury = frozen_jury_of(judge_run.jury, templates=templates)
    results = [row.result_id for row in result_scores]
    known = _judgments(judge_run.pk, results)
    source = judge_run.judgments_from_id
    others = _judgments(source, results) if source else {}
    earlier = earlier_costs(judge_run, [row.pk for row in result_scores])
    tasks = []
    for row in result_scores:
        result, is_retry = row.result, row.error_kind == RETRY
        refuse_removed(result)
        retried_at = datetime.fromisoformat(row.error_message) if is_retry else None
        existing = ExistingJudgments(known[result.pk], retried_at)
        own = templates.get(result.revision.template_id or 0)
        if kept := {} if is_retry else others.get(result.pk, {}):
            criterion_tasks = _checks_again(judge_run, result, existing, kept)
        else:
            criterion_tasks = _criterion_tasks(judge_run.run, result, jury, existing, own)
        task = JudgingTask(
            item_id=row.pk,
            judge_run_id=judge_run.pk,
            result_id=result.pk,
            case=judged_answer_of(result, judge_run.run.system_prompt),
            material=material_of(result),
            criterion_tasks=criterion_tasks,
            similarity_task=None if kept else _similarity_task(judge_run.run, result),
            earlier=earlier.get(row.pk, {}),
            sealed=[result.test_id] if row.is_sealed else [],
            repeat=result.repeat,
            # To re-judge is to ask again.
            takes_known_verdicts=judge_run.run.takes_known_verdicts and judge_run.number == 1,
        )
        tasks.append(task)
    _add_sealed_examples(tasks)
    return tasks


def _judgments(judge_run_id: int, results: Sequence[int]) -> dict[int, dict[Place, Judgment]]:
    """Return the judgments of a judge run by result and place."""
    found: dict[int, dict[Place, Judgment]] = defaultdict(dict)
    for judgment in Judgment.objects.filter(judge_run=judge_run_id, result__in=results):
        place = judgment.criterion_id, judgment.judge_id, judgment.sample
        found[judgment.result_id][place] = judgment
    return found


def sealed_among(tests: Collection[int]) -> set[int]:
    """Return those of these tests that are sealed by now."""
    return set(Test.objects.filter(pk__in=tests, sealed=True).values_list("pk", flat=True))


def readable_sealed_among(tests: Collection[int], reader: User) -> list[int]:
    """Return those of the tests that prompts show that are sealed.

    Raises:
        Refused: The reader may not read one: an example shows it.
    """
    sealed = sealed_among(tests)
    if Test.objects.readable_by(reader).filter(pk__in=sealed).count() < len(sealed):
        problem = "A judge template shows an example of a sealed test, which you may not read."
        raise Refused([problem])
    return sorted(sealed)


def _add_sealed_examples(tasks: Sequence[JudgingTask]) -> None:
    """Add tests of examples that have been sealed since to the sealed tests of each task."""
    taught = [_example_tests(task) for task in tasks]
    sealed = sealed_among(set().union(*taught))
    for task, shown in zip(tasks, taught, strict=True):
        task.sealed += sorted((shown & sealed) - {*task.sealed})


def _example_tests(judging_task: JudgingTask) -> set[int]:
    """Return the tests of all examples in the templates of its judges."""
    templates = {
        request.prompt_template.template_id: request.prompt_template
        for task in judging_task.criterion_tasks
        for request in (*task.judge_requests, task.backup)
        if request and request.prompt_template
    }
    return set().union(*(template.example_tests for template in templates.values()))


def refuse_removed(*results: Result) -> None:
    """Raise PromptError for an answer whose text was removed: its judge would read a tombstone."""
    for result in results:
        if result.answer.removed_at:
            raise PromptError([result.answer.text])


def judged_answer_of(result: Result, system_prompt: str) -> JudgedAnswer:
    """Return a result as judges see it."""
    return JudgedAnswer(
        result.revision.content,
        system_prompt,
        result.answer.said(),
        result.test_id,
        result.answer.documents,
    )


def material_of(result: Result) -> Material:
    """Return a result as checks see it."""
    return material_in(result.answer.said(), latency_ms=result.latency_ms, cost_usd=result.cost_usd)


def material_in(turns: Sequence[AnswerTurn], **measured: Any) -> Material:
    """Return generated turns as checks see them."""
    return Material(
        text=text_of(turn.words for turn in turns),
        tool_calls=[call for turn in turns for call in turn.tool_calls],
        **measured,
    )


def _similarity_task(run: Run, result: Result) -> SimilarityTask | None:
    """Return the similarity to measure; None if it is not wanted or already measured."""
    fails = run.handling(result.ending) == Handling.FAILED
    if result.similarity is not None or not run.wants_similarity or fails:
        return None
    text, reference = result.answer.said()[-1].words, result.revision.content["reference"]
    return SimilarityTask(text, reference, run.embedder())


def _criterion_tasks(
    run: Run,
    result: Result,
    jury: FrozenJury,
    known: ExistingJudgments,
    own: JudgePromptTemplate | None,
) -> list[CriterionTask]:
    """Return the tasks of each criterion, or of the whole test without a rubric.

    Nobody judges an answer that fails because it broke off.
    """
    if run.handling(result.ending) == Handling.FAILED:
        return []
    criteria = list(result.revision.criteria.all())
    rubric = [criterion for criterion in criteria if criterion.key != WHOLE_TEST]
    is_bare = run.score_by_similarity and not rubric and not result.revision.template_id
    if is_bare and not any(judge.whole for judge in jury.judges_asked(on_rubric=False)):
        return []  # similarity alone scores it, for no judge has a template for it
    tasks = []
    for criterion in rubric or criteria:
        if criterion.check_name:
            tasks.append(_check_task(criterion, known))
        else:
            tasks.append(_criterion_task(criterion, jury, own, known))
    return tasks


def _checks_again(
    judge_run: JudgeRun,
    result: Result,
    known: ExistingJudgments,
    others: Mapping[Place, Judgment],
) -> list[CriterionTask]:
    """Return the checks of a result, and what judges said in another judge run: none is asked."""
    kept = [row for at, row in others.items() if row.judge_id and at not in known.judgments]
    for row in kept:
        row.pk, row.judge_run_id, row.request_key = None, judge_run.pk, ""
    checks = [one for one in result.revision.criteria.all() if one.check_name]
    return [CriterionTask(kept=kept), *(_check_task(one, known) for one in checks)]


def _check_task(criterion: FrozenCriterion, known: ExistingJudgments) -> CriterionTask:
    judgment = known.of(criterion, None)
    if not known.is_missing(judgment):
        return CriterionTask()
    pk = judgment.pk if judgment else None
    check = CheckTask(criterion.check_name, criterion.arguments, criterion.pk, pk)
    return CriterionTask(check_task=check)


def _criterion_task(
    criterion: FrozenCriterion,
    jury: FrozenJury,
    own: JudgePromptTemplate | None,
    known: ExistingJudgments,
) -> CriterionTask:
    """Return the missing judgments of a criterion; `own` is the test's template."""
    is_whole = criterion.key == WHOLE_TEST

    def request(judge: FrozenJudge, judgment: Judgment | None, **changes: Any) -> JudgeRequest:
        template = judge.whole or own if is_whole else judge.rubric
        return JudgeRequest(
            judge,
            template,
            criterion.pk,
            criterion.key,
            judgment_id=judgment.pk if judgment else None,
            repair_model=jury.repair_models.get(template.template_id) if template else None,
            **changes,
        )

    task = CriterionTask()
    wanted = [
        (j, n, False) for j in jury.judges_asked(on_rubric=not is_whole) for n in range(j.samples)
    ]
    wanted += [(jury.backup, 0, True)] if jury.backup else []
    for judge, sample, is_backup in wanted:
        judgment = known.of(criterion, judge.judge_id, sample)
        if is_backup:
            if known.is_missing(judgment):
                task.backup = request(judge, judgment, is_backup=True)
        elif known.is_missing(judgment):
            task.judge_requests.append(request(judge, judgment, sample=sample))
        elif judgment and judgment.state == JudgmentState.FAILED:
            task.has_failed = True
    return task
