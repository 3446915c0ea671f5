"""What a judging has still to ask about a result: read from rows, before anyone is asked."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from evalhub.llm.endpoint import Endpoint
from evalhub.models import Call
from issues.checks import Material
from issues.models import FrozenCriterion
from issues.rubric import WHOLE_TEST
from runs.asking import Case, Wording
from runs.models import Assessment, Judging, Judgment, JudgmentState, Result, Run
from runs.seats import Panel, Seat, panel_of

RETRY = "retry"
"""Error kind of an assessment whose failed judgments are to be asked for once more."""


@dataclass(frozen=True)
class Question:
    """One judgment that is missing: a judge's, on one criterion.

    `wording` None: there is none to ask with, which is a failed judgment. `judgment_id` is that of
    a failed one to be replaced.
    """

    seat: Seat
    wording: Wording | None
    criterion_id: int
    key: str
    sample: int = 0
    is_backup: bool = False
    judgment_id: int | None = None


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

    `earlier` is what was already asked for it, by a worker that gave it back or died.
    """

    item_id: int
    judging_id: int
    result_id: int
    case: Case
    material: Material
    matters: list[Matter]
    comparison: Comparison | None = None
    earlier: list[Cost] = field(default_factory=list)


Known = Mapping[tuple[int, int | None, int], Judgment]
"""Judgments that are there, by criterion, judge and sample."""


def hearings(judging: Judging, assessment_ids: Sequence[int]) -> list[Hearing]:
    """Jobs for these assessments, each with exactly the judgments that are missing."""
    assessments = list(
        Assessment.objects.filter(pk__in=assessment_ids)
        .select_related("result__answer", "result__revision__template")
        .prefetch_related("result__revision__criteria")
    )
    panel = panel_of(judging)
    known = _known(judging, [assessment.result_id for assessment in assessments])
    earlier = _earlier(judging, [a.pk for a in assessments if a.result_id in known])
    own_wordings: dict[int, Wording] = {}
    return [
        Hearing(
            item_id=assessment.pk,
            judging_id=judging.pk,
            result_id=assessment.result_id,
            case=case_of(assessment.result, judging.run.system_prompt),
            material=material_of(assessment.result),
            matters=_matters(
                judging.run, assessment, panel, known[assessment.result_id], own_wordings
            ),
            comparison=_comparison(judging.run, assessment.result),
            earlier=earlier[assessment.pk],
        )
        for assessment in assessments
    ]


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
    turns = [turn["content"] for turn in result.answer.turns]
    return Case(result.revision.content, system_prompt, turns or [result.answer.text])


def material_of(result: Result) -> Material:
    """A result as checks see it."""
    turns = [turn["content"] for turn in result.answer.turns] or [result.answer.text]
    return Material(
        text="\n\n".join(turns),
        tool_calls=result.answer.tool_calls,
        latency_ms=result.latency_ms,
        cost_usd=None if result.cost_usd is None else float(result.cost_usd),
    )


def _comparison(run: Run, result: Result) -> Comparison | None:
    """What is to be compared; None where nobody asks for it, or it has been measured."""
    if result.similarity is not None or not run.wants_similarity:
        return None
    return Comparison(result.answer.text, result.revision.content["reference"], run.embedder())


def _known(judging: Judging, result_ids: list[int]) -> dict[int, Known]:
    known: dict[int, dict[tuple[int, int | None, int], Judgment]] = defaultdict(dict)
    for row in Judgment.objects.filter(judging=judging, result__in=result_ids):
        known[row.result_id][row.criterion_id, row.judge_id, row.sample] = row
    return defaultdict(dict, known)


def _matters(
    run: Run,
    assessment: Assessment,
    panel: Panel,
    known: Known,
    own_wordings: dict[int, Wording],
) -> list[Matter]:
    """What is missing of each criterion, or of the whole test where it has no rubric.

    Judgments that failed are missing too, where a person asked for them once more.
    """
    result, is_retry = assessment.result, assessment.error_kind == RETRY
    criteria = list(result.revision.criteria.all())
    rubric = [criterion for criterion in criteria if criterion.key != WHOLE_TEST]
    matters = []
    if not rubric and _is_left_to_similarity(run, result, panel):
        return []
    for criterion in rubric or criteria:
        if criterion.check_name:
            matters.append(Matter(checking=_checking(criterion, known, is_retry)))
        else:
            wording = None if criterion.key else _own_wording(result, own_wordings)
            matters.append(_matter(criterion, panel, wording, known, is_retry))
    return matters


def _is_left_to_similarity(run: Run, result: Result, panel: Panel) -> bool:
    """Whether nobody has a wording to ask about the whole test, and its similarity is its score."""
    if not run.score_by_similarity or result.revision.template_id:
        return False
    return not any(seat.whole for seat in panel.sitting(on_rubric=False))


def _checking(criterion: FrozenCriterion, known: Known, is_retry: bool) -> Checking | None:
    before = known.get((criterion.pk, None, 0))
    if before is not None and not (is_retry and before.state == JudgmentState.FAILED):
        return None
    replaced = before.pk if before else None
    return Checking(criterion.check_name, criterion.arguments, criterion.pk, replaced)


def _matter(
    criterion: FrozenCriterion, panel: Panel, own: Wording | None, known: Known, is_retry: bool
) -> Matter:
    matter = Matter()
    on_rubric = criterion.key != WHOLE_TEST
    for seat in panel.sitting(on_rubric=on_rubric):
        wording = seat.rubric if on_rubric else seat.whole or own
        for sample in range(seat.samples):
            before = known.get((criterion.pk, seat.judge_id, sample))
            failed = before is not None and before.state == JudgmentState.FAILED
            if before is None or (failed and is_retry):
                replaced = before.pk if before else None
                matter.questions.append(
                    Question(
                        seat, wording, criterion.pk, criterion.key, sample, judgment_id=replaced
                    )
                )
            else:
                matter.has_failed |= failed
    matter.backup = _backup(criterion, panel.backup, own, known, is_retry)
    return matter


def _backup(
    criterion: FrozenCriterion,
    seat: Seat | None,
    own: Wording | None,
    known: Known,
    is_retry: bool,
) -> Question | None:
    """What the backup judge would be asked; None where there is none, or it has answered."""
    if seat is None:
        return None
    before = known.get((criterion.pk, seat.judge_id, 0))
    if before is not None and not (is_retry and before.state == JudgmentState.FAILED):
        return None
    return Question(
        seat,
        seat.rubric if criterion.key else seat.whole or own,
        criterion.pk,
        criterion.key,
        is_backup=True,
        judgment_id=before.pk if before else None,
    )


def _own_wording(result: Result, wordings: dict[int, Wording]) -> Wording | None:
    """The wording of the test's own template; None where it has none."""
    template = result.revision.template
    if template is None:
        return None
    if template.pk not in wordings:
        wordings[template.pk] = Wording.of(template)
    return wordings[template.pk]
