"""What a reviewer is asked, what is hidden from them, and the problems of a submission.

Judgments and others' verdicts are hidden so that they do not bias a reviewer.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from evalhub.models import User
from issues.rubrics.scoring import WHOLE_TEST
from runs.laboratory.pairwise.models import PairEvaluation
from runs.models import HumanEvaluation, JudgeRun, Result, ResultScore
from runs.review.models import (
    Assignment,
    AssignmentState,
    BlindMode,
    Queue,
    Reasoning,
    ReviewScope,
)
from runs.review.pair_items import check_choice
from runs.review.reservations import KEPT, check_lengths
from runs.review.review_draft import (
    OPTION,
    REASON,
    ReviewSubmission,
    Verdict,
    as_draft,
    field_of,
    too_long,
)
from runs.scoring.coverage_rule import consensus_of
from runs.scoring.human_evaluation import EvaluationPoint, evaluation_points_of, has_judges
from runs.scoring.score import votes_on
from runs.scoring.shown_verdicts import has_seen


def is_apart(value: float, consensus: float) -> bool:
    """Tell whether a verdict on a criterion overrides the judges' consensus."""
    return round(abs(value - consensus), 9) > 0.3


@dataclass(frozen=True)
class Requirements:
    """The points of a review, and the judges' verdict on them.

    Attributes:
        points: The points that may be evaluated, by key; "" is the answer as a whole.
        needed: Keys of the criteria to evaluate in a review by criteria, sorted.
        scope: The queue's; the whole answer if no criterion has judges.
        values: The judges' consensus by criterion key; None: there is none.
        passed: The judges' verdict on the answer; None: no verdict.
    """

    result: Result
    points: Mapping[str, EvaluationPoint]
    needed: list[str]
    scope: str
    reasoning: str
    is_hidden: bool
    values: Mapping[str, float | None]
    passed: bool | None

    def check(self, submission: ReviewSubmission) -> None:
        """Check a submission.

        Raises:
            ValidationError: All problems, by field.
        """
        problems = dict(self._missing(submission))
        for verdict in submission.verdicts:
            problems.update(self._problems_of(verdict))
        problems.update(too_long(as_draft(submission)))
        if problems:
            raise ValidationError(problems)

    def _missing(self, submission: ReviewSubmission) -> dict[str, str]:
        given = Counter(verdict.criterion for verdict in submission.verdicts)
        whole = WHOLE_TEST in given
        if twice := [key for key, n in given.items() if n > 1]:
            return {field_of(OPTION, twice[0]): "Two verdicts on the same criterion: choose one."}
        if whole and len(given) > 1:
            return {OPTION: "Judge the whole answer or its criteria, not both."}
        if self.scope == ReviewScope.CRITERIA and whole:
            problem = "Judge each criterion: this queue does not ask for a verdict on the whole."
            return {OPTION: problem}
        if self.scope == ReviewScope.WHOLE and given and not whole:
            return {OPTION: "Judge the whole answer: this queue does not ask for criteria."}
        if not given:
            by_criterion = self.scope == ReviewScope.CRITERIA
            key = self.needed[0] if by_criterion else WHOLE_TEST
            return {field_of(OPTION, key): "Choose a verdict."}
        left = [key for key in self.needed if key not in given]
        if left and not whole:
            return {field_of(OPTION, left[0]): f"Choose a verdict: criteria left: {len(left)}."}
        return {}

    def _problems_of(self, verdict: Verdict) -> dict[str, str]:
        option_name = field_of(OPTION, verdict.criterion)
        point = self.points.get(verdict.criterion)
        if point is None:
            return {option_name: f"The rubric has no criterion {verdict.criterion!r}."}
        if not verdict.option:
            return {option_name: "Choose a verdict."}
        option = point.scale.option_of(verdict.option)
        if option is None:
            labels = ", ".join(option.label for option in point.scale.options)
            return {option_name: f"{verdict.option!r} is not one of {labels}."}
        if not verdict.justification.strip():
            if self.reasoning == Reasoning.ALWAYS:
                return {field_of(REASON, verdict.criterion): "Enter a reason."}
            if not self.is_hidden and self._agrees(verdict.criterion, option.value) is False:
                problem = "Enter a reason for overriding the judges."
                return {field_of(REASON, verdict.criterion): problem}
        return {}

    def _agrees(self, key: str, value: float) -> bool | None:
        """Compare a verdict with the judges'; None if they gave none."""
        if key == WHOLE_TEST:
            if self.passed is None:
                return None
            return self.result.revision.passes(value) == self.passed
        consensus = self.values.get(key)
        return None if consensus is None else not is_apart(value, consensus)

    def agrees(self, submission: ReviewSubmission) -> bool | None:
        """Tell whether the judges agree with all verdicts; None if they gave none."""
        found = set()
        for verdict in submission.verdicts:
            point = self.points.get(verdict.criterion)
            if point and (option := point.scale.option_of(verdict.option)):
                found.add(self._agrees(verdict.criterion, option.value))
        return False if False in found else True if True in found else None


@dataclass(frozen=True)
class PairRequirements(Requirements):
    """Requirements of a pair: a choice, and a reason where the queue always asks for one."""

    queue: Queue

    def check(self, submission: ReviewSubmission) -> None:
        check_choice(self.queue, submission)
        if self.reasoning == Reasoning.ALWAYS and not submission.verdicts[0].justification.strip():
            raise ValidationError({REASON: "Enter a reason."})
        check_lengths(as_draft(submission))

    def agrees(self, submission: ReviewSubmission) -> bool | None:
        return None


def _requirements_for_pair(assignment: Assignment) -> PairRequirements:
    return PairRequirements(
        result=assignment.item.result,
        points={},
        needed=[],
        scope=ReviewScope.PAIRS,
        reasoning=assignment.queue.reasoning,
        is_hidden=is_hidden(assignment),
        values={},
        passed=None,
        queue=assignment.queue,
    )


def requirements_for(assignment: Assignment) -> Requirements:
    """Read the requirements for an assignment, in a constant number of queries."""
    if assignment.item.other_id:
        return _requirements_for_pair(assignment)
    result = assignment.item.result
    points = evaluation_points_of(result)
    needed = sorted(key for key, point in points.items() if has_judges(point.criterion))
    judge_run = JudgeRun.objects.filter(run=result.run_id, is_active=True)
    result_score = ResultScore.objects.filter(judge_run__in=judge_run, result=result).first()
    consensus = consensus_of(votes_on(result_score)) if result_score else {}
    return Requirements(
        result=result,
        points=points,
        needed=needed,
        scope=assignment.queue.scope if needed else ReviewScope.WHOLE,
        reasoning=assignment.queue.reasoning,
        is_hidden=is_hidden(assignment),
        values={key: consensus.get(point.criterion.pk) for key, point in points.items()},
        passed=result_score.passed if result_score else None,
    )


# Blindness ---------------------------------------------------------------------------------------


def is_hidden(assignment: Assignment) -> bool:
    """Tell whether judgments, score, reasons and others' evaluations are hidden now.

    A reviewer who has submitted a verdict on the answer, even an undone one, has seen the judges',
    and so has one who was shown them by a page, a file or the API: nothing is hidden then, and
    the verdict is not blind.
    """
    blind = assignment.queue.blind
    hides = blind == BlindMode.ALL or (blind == BlindMode.RANDOM and assignment.item.is_random)
    if assignment.state == AssignmentState.SUBMITTED or not hides:
        return False
    mine = HumanEvaluation.objects.filter(
        result=assignment.item.result_id, annotator=assignment.annotator_id
    )
    if assignment.annotator_id is None:
        return True
    item = assignment.item
    if item.other_id:
        seen = (has_seen(assignment.annotator_id, one) for one in (item.result, item.other) if one)
        return not any(seen)
    return not mine.exists() and not has_seen(assignment.annotator_id, item.result)


def hides_others(assignment: Assignment) -> bool:
    """Tell whether there are other people's verdicts to hide: until the reviewer's own is in."""
    if assignment.state not in KEPT:
        return False
    item = assignment.item
    given: QuerySet[Any] = HumanEvaluation.objects.filter(result=item.result_id)
    if item.other_id:
        first, second = sorted((item.result_id, item.other_id))
        given = PairEvaluation.objects.filter(pair__first=first, pair__second=second)
    people = set(given.order_by().values_list("annotator", flat=True))
    return bool(people) and assignment.annotator_id not in people


def hidden_for(annotator: User, result_id: int) -> Assignment | None:
    """Return the assignment that hides verdicts on this result from its reviewer; None: none."""
    about = (
        one for one in _held(annotator) if result_id in (one.item.result_id, one.item.other_id)
    )
    return next((one for one in about if is_hidden(one) or hides_others(one)), None)


def held_hidden(reader: Any) -> Collection[int]:
    """Return the results with verdicts that are hidden from this reader, who reviews them now."""
    hidden = [one.item for one in _held(reader) if is_hidden(one) or hides_others(one)]
    return [pk for item in hidden for pk in (item.result_id, item.other_id) if pk]


def _held(annotator: Any) -> list[Assignment]:
    """Return the assignments that the annotator is working on; they are few."""
    held = Assignment.objects.filter(annotator=annotator, state__in=KEPT)
    with_item = held.select_related("queue", "item")
    return list(with_item.prefetch_related("item__result", "item__other"))
