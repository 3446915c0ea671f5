"""Scoring: the one place that sets score and passed, of assessments and of results.

A judge that failed is no vote. People win: where evaluations stand, they replace the judges.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from evalhub.models import ItemState
from evalhub.work.rows import overwrite
from issues.rubric import consensus
from issues.scales import passes
from runs.models import Assessment, HumanEvaluation, Judgment, Result
from runs.standing import Evaluation, Verdict, verdict_of

ASSESSMENT_FIELDS = ["score", "passed", "answered", "expected"]
RESULT_FIELDS = ["score", "passed", "agreement", "is_judged", "is_overridden", "is_disputed"]

Key = tuple[int, int]


class PassRule(NamedTuple):
    """When a result passes, as its revision froze it."""

    threshold: float
    rule: str

    def passes(self, score: float | None) -> bool | None:
        return passes(score, self.threshold, self.rule)


def score_assessments(assessments: Collection[Assessment], *, also: Sequence[str] = ()) -> None:
    """Set score and passed of assessments from their judgments, and of their results.

    Args:
        assessments: Rows as they were read.
        also: Further fields in which the rows were changed, to be written in the same statement.
    """
    votes = _votes(assessments)
    rules = _pass_rules({assessment.result_id for assessment in assessments})
    for assessment in assessments:
        values = votes[assessment.judging_id, assessment.result_id]
        assessment.score = consensus(values)
        assessment.passed = rules[assessment.result_id].passes(assessment.score)
        assessment.expected = len(values)
        assessment.answered = sum(value is not None for value in values)
    overwrite(list(assessments), [*ASSESSMENT_FIELDS, *also])
    score_results({assessment.result_id for assessment in assessments})


def _votes(assessments: Iterable[Assessment]) -> dict[Key, list[float | None]]:
    """The values of each assessment's judgments; None for those that failed."""
    votes: dict[Key, list[float | None]] = defaultdict(list)
    rows = Judgment.objects.filter(
        judging__in={assessment.judging_id for assessment in assessments},
        result__in={assessment.result_id for assessment in assessments},
    ).order_by()
    for judging, result, value in rows.values_list("judging_id", "result_id", "value"):
        votes[judging, result].append(value)
    return votes


def score_results(result_ids: Collection[int]) -> None:
    """Set score and passed of results from the current judging and from people."""
    locked = Result.objects.select_for_update(of=("self",)).order_by("pk")
    results = list(locked.filter(pk__in=result_ids))
    current = {
        assessment.result_id: assessment
        for assessment in Assessment.objects.filter(judging__is_current=True, result__in=result_ids)
    }
    evaluations = _evaluations(result_ids)
    rules = _pass_rules(result_ids)
    for result in results:
        _take_over_judges(result, current.get(result.pk))
        verdict = verdict_of(evaluations[result.pk])
        if verdict is not None:
            _take_over_people(result, verdict, rules[result.pk])
    overwrite(results, RESULT_FIELDS)


def _take_over_judges(result: Result, assessment: Assessment | None) -> None:
    ended = assessment is not None and assessment.state in (ItemState.DONE, ItemState.ERROR)
    result.is_judged = ended and result.state == ItemState.DONE
    result.score = assessment.score if assessment else None
    result.passed = assessment.passed if assessment else None
    result.agreement = assessment.agreement if assessment else None
    result.is_overridden = result.is_disputed = False


def _take_over_people(result: Result, verdict: Verdict, rule: PassRule) -> None:
    """Evaluations that lie on both sides of the pass line decide nothing until adjudicated."""
    sides = {rule.passes(value) for value in verdict.values}
    result.score = verdict.score
    result.passed = sides.pop() if len(sides) == 1 else None
    result.is_judged = result.is_overridden = True
    result.is_disputed = verdict.is_disputed


def _evaluations(result_ids: Collection[int]) -> dict[int, list[Evaluation]]:
    found: dict[int, list[Evaluation]] = defaultdict(list)
    rows = HumanEvaluation.objects.filter(result__in=result_ids, criterion__key="").order_by("pk")
    fields = ("result_id", "annotator_id", "kind", "value")
    for result, annotator, kind, value in rows.values_list(*fields):
        found[result].append(Evaluation(annotator, kind, value))
    return found


def _pass_rules(result_ids: Collection[int]) -> dict[int, PassRule]:
    rows = Result.objects.filter(pk__in=result_ids).order_by()
    frozen = rows.values_list("pk", "revision__pass_threshold", "revision__pass_rule")
    return {pk: PassRule(threshold, rule) for pk, threshold, rule in frozen}
