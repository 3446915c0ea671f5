"""What a judging has still to ask about a result: read from rows, before anyone is asked."""

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
from issues.rubric import WHOLE_TEST
from runs.asking import Case, Wording
from runs.models import Assessment, Judging, Judgment, JudgmentState, Result, Run
from runs.seats import Panel, Seat, panel_of

RETRY = "retry"
"""Error kind of an assessment whose failed judgments are to be asked for once more: those made
before the time that its error message gives, so that none is asked for twice when a worker dies."""


@dataclass(frozen=True)
class Question:
    """One judgment that is missing: a judge's, on one criterion.

    `wording` None: there is none to ask with, which is a failed judgment. `judgment_id` is that of
    a failed one to be replaced. `mender` mends a reply that cannot be read; None: the judge does.
    """

    seat: Seat
    wording: Wording | None
    criterion_id: int
    key: str
    sample: int = 0
    is_backup: bool = False
    judgment_id: int | None = None
    mender: Endpoint | None = None


@dataclass(frozen=True)
class Checking:
    """One judgment that a check gives."""

    name: str
    arguments: dict[str, Any]
    criterion_id: int
    judgment_id: int | None


@dataclass
class Matter:
    """One criterion of a result (or the test as a whole), and what is missing of it.

    `backup` is asked where one of the judges has failed, now or earlier (`has_failed`).
    """

    questions: list[Question] = field(default_factory=list)
    checking: Checking | None = None
    backup: Question | None = None
    has_failed: bool = False


class Comparison(NamedTuple):
    """An answer and its reference, whose similarity is to be measured; `endpoint` None: built in.

    The answer is its last turn.
    """

    answer: str
    reference: str
    endpoint: Endpoint | None


class Cost(NamedTuple):
    """Of one call, in US dollars; None: not known."""

    usd: Decimal | None
    is_failed: bool


@dataclass
class Hearing:
    """One assessment to be made: what is judged, and the judgments that are missing.

    `sealed` are the sealed tests whose text its calls carry. `earlier` is what was already
    asked for it, by a worker that gave it back or died.
    """

    item_id: int
    judging_id: int
    result_id: int
    case: Case
    material: Material
    matters: list[Matter]
    comparison: Comparison | None = None
    earlier: list[Cost] = field(default_factory=list)
    sealed: list[int] = field(default_factory=list)


class Found(NamedTuple):
    """What is there of one judgment: its id, if any; whether it is to be made; how it ended."""

    judgment_id: int | None
    is_missing: bool
    has_failed: bool


@dataclass(frozen=True)
class Known:
    """The judgments of a result that are there, by criterion, judge and sample.

    Those that failed before `retried_at` are missing all the same.
    """

    judgments: Mapping[tuple[int, int | None, int], Judgment]
    retried_at: datetime | None

    def of(self, criterion: FrozenCriterion, judge_id: int | None, sample: int = 0) -> Found:
        before = self.judgments.get((criterion.pk, judge_id, sample))
        if before is None:
            return Found(None, is_missing=True, has_failed=False)
        has_failed = before.state == JudgmentState.FAILED
        is_past = self.retried_at is not None and before.created_at < self.retried_at
        return Found(before.pk, is_missing=has_failed and is_past, has_failed=has_failed)


def hearings(judging: Judging, assessment_ids: Sequence[int]) -> list[Hearing]:
    """Jobs for these assessments, each with exactly the judgments that are missing."""
    assessments = list(
        Assessment.objects.filter(pk__in=assessment_ids)
        .select_related("result__answer", "result__revision__template")
        .annotate(is_sealed=F("result__test__sealed"))
        .prefetch_related("result__revision__criteria")
    )
    panel = panel_of(judging)
    known = _known(judging, [assessment.result_id for assessment in assessments])
    earlier = _earlier(judging, [a.pk for a in assessments if a.result_id in known])
    own_wordings: dict[int, Wording] = {}
    made = [
        Hearing(
            item_id=assessment.pk,
            judging_id=judging.pk,
            result_id=assessment.result_id,
            case=case_of(assessment.result, judging.run.system_prompt),
            material=material_of(assessment.result),
            matters=_matters(
                judging.run,
                assessment.result,
                panel,
                Known(known[assessment.result_id], _retried_at(assessment)),
                own_wordings,
            ),
            comparison=_comparison(judging.run, assessment.result),
            earlier=earlier[assessment.pk],
            sealed=[assessment.result.test_id] if assessment.is_sealed else [],
        )
        for assessment in assessments
    ]
    _add_sealed_examples(made)
    return made


def _add_sealed_examples(made: Sequence[Hearing]) -> None:
    """Note the tests whose examples judges may be shown, where they were sealed since."""
    taught = [_taught(hearing) for hearing in made]
    tests = set().union(*taught)
    if not tests:
        return
    sealed = set(Test.objects.filter(pk__in=tests, sealed=True).values_list("pk", flat=True))
    for hearing, shown in zip(made, taught, strict=True):
        hearing.sealed += sorted((shown & sealed) - {*hearing.sealed})


def _taught(hearing: Hearing) -> set[int]:
    """The tests of all examples of the templates with which its judges are asked."""
    asked = [
        question
        for matter in hearing.matters
        for question in (*matter.questions, *([matter.backup] if matter.backup else ()))
    ]
    wordings = {q.wording.template_id: q.wording for q in asked if q.wording is not None}
    rows = [row for wording in wordings.values() for row in wording.examples.rows]
    return {row.test_id for row in rows if row.test_id is not None}


def _earlier(judging: Judging, assessment_ids: list[int]) -> dict[int, list[Cost]]:
    """Costs of all calls that were made for assessments of which something is known."""
    costs: dict[int, list[Cost]] = defaultdict(list)
    if assessment_ids:
        calls = Call.objects.filter(batch=judging.work_key, item_id__in=assessment_ids).order_by()
        for call in calls.only("item_id", "cost_usd", "error_kind"):
            assert call.item_id is not None  # it was found by it
            costs[call.item_id].append(Cost(call.cost_usd, bool(call.error_kind)))
    return costs


def case_of(result: Result, system_prompt: str) -> Case:
    """A result as judges see it."""
    return Case(result.revision.content, system_prompt, _turns(result), result.test_id)


def material_of(result: Result) -> Material:
    """A result as checks see it."""
    answer = result.answer
    earlier = [call for turn in answer.turns[:-1] for call in turn.get("tool_calls", ())]
    return Material(
        text=text_of(_turns(result)),
        tool_calls=[*earlier, *answer.tool_calls],
        latency_ms=result.latency_ms,
        cost_usd=result.cost_usd,
    )


def _turns(result: Result) -> list[str]:
    """All that the candidate said, turn by turn; an answer without turns is one."""
    return [turn["content"] for turn in result.answer.turns] or [result.answer.text]


def _comparison(run: Run, result: Result) -> Comparison | None:
    """What is to be compared; None where nobody asks for it, or it has been measured."""
    if result.similarity is not None or not run.wants_similarity:
        return None
    return Comparison(result.answer.text, result.revision.content["reference"], run.embedder())


def _known(
    judging: Judging, result_ids: list[int]
) -> dict[int, dict[tuple[int, int | None, int], Judgment]]:
    """The judgments that are there, by result."""
    known: dict[int, dict[tuple[int, int | None, int], Judgment]] = defaultdict(dict)
    for row in Judgment.objects.filter(judging=judging, result__in=result_ids):
        known[row.result_id][row.criterion_id, row.judge_id, row.sample] = row
    return known


def _retried_at(assessment: Assessment) -> datetime | None:
    """When a person asked for its failed judgments once more; None: nobody did."""
    is_retry = assessment.error_kind == RETRY
    return datetime.fromisoformat(assessment.error_message) if is_retry else None


def _matters(
    run: Run, result: Result, panel: Panel, known: Known, own_wordings: dict[int, Wording]
) -> list[Matter]:
    """What is missing of each criterion, or of the whole test where it has no rubric."""
    criteria = list(result.revision.criteria.all())
    rubric = [criterion for criterion in criteria if criterion.key != WHOLE_TEST]
    matters = []
    if not rubric and _is_left_to_similarity(run, result, panel):
        return []
    for criterion in rubric or criteria:
        if criterion.check_name:
            matters.append(Matter(checking=_checking(criterion, known)))
        else:
            wording = None if criterion.key else _own_wording(result, own_wordings)
            matters.append(_matter(criterion, panel, wording, known))
    return matters


def _is_left_to_similarity(run: Run, result: Result, panel: Panel) -> bool:
    """Whether nobody has a wording to ask about the whole test, and its similarity is its score."""
    if not run.score_by_similarity or result.revision.template_id:
        return False
    return not any(seat.whole for seat in panel.sitting(on_rubric=False))


def _checking(criterion: FrozenCriterion, known: Known) -> Checking | None:
    found = known.of(criterion, None)
    if not found.is_missing:
        return None
    return Checking(criterion.check_name, criterion.arguments, criterion.pk, found.judgment_id)


def _matter(criterion: FrozenCriterion, panel: Panel, own: Wording | None, known: Known) -> Matter:
    matter = Matter()
    for seat in panel.sitting(on_rubric=criterion.key != WHOLE_TEST):
        for sample in range(seat.samples):
            found = known.of(criterion, seat.judge_id, sample)
            if found.is_missing:
                question = _question(criterion, seat, own, found, panel.menders, sample=sample)
                matter.questions.append(question)
            else:
                matter.has_failed |= found.has_failed
    if panel.backup and (found := known.of(criterion, panel.backup.judge_id)).is_missing:
        backup = panel.backup
        matter.backup = _question(criterion, backup, own, found, panel.menders, is_backup=True)
    return matter


def _question(
    criterion: FrozenCriterion,
    seat: Seat,
    own: Wording | None,
    found: Found,
    menders: Mapping[int, Endpoint],
    *,
    sample: int = 0,
    is_backup: bool = False,
) -> Question:
    wording = seat.whole or own if criterion.key == WHOLE_TEST else seat.rubric
    return Question(
        seat,
        wording,
        criterion.pk,
        criterion.key,
        sample,
        is_backup,
        found.judgment_id,
        menders.get(wording.template_id) if wording else None,
    )


def _own_wording(result: Result, wordings: dict[int, Wording]) -> Wording | None:
    """The wording of the test's own template; None where it has none."""
    template = result.revision.template
    if template is None:
        return None
    if template.pk not in wordings:
        wordings[template.pk] = Wording.of(template)
    return wordings[template.pk]
