"""A queue's requirements for a review, and the problems of a submission."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.core.exceptions import ValidationError

from issues.rubrics.scoring import WHOLE_TEST
from runs.models import JudgeRun, Result, ResultScore
from runs.review.blindness import is_hidden
from runs.review.models import Assignment, Reasoning, ReviewScope
from runs.review.submission import (
    MOST_TEXT,
    OPTION,
    REASON,
    ReviewSubmission,
    Verdict,
    as_draft,
    field_of,
)
from runs.scoring.human_evaluation import EvaluationPoint, evaluation_points_of, has_judges
from runs.scoring.score import consensus_of, votes_on

APART = 0.3
"""A verdict on a criterion further than this from the judges' consensus overrides it."""
DIGITS = 9


@dataclass(frozen=True)
class Requirements:
    """The points of a review, and the judges' verdict on them.

    Attributes:
        questions: The points that may be evaluated, by key; "" is the answer as a whole.
        needed: Keys of the criteria to evaluate in a review by criteria.
        scope: The queue's; the whole answer if no criterion has judges.
        values: The judges' consensus by criterion key, where there is one.
        passed: The judges' verdict on the answer; None: no verdict.
    """

    result: Result
    questions: Mapping[str, EvaluationPoint]
    needed: frozenset[str]
    scope: str
    reasoning: str
    is_hidden: bool
    values: Mapping[str, float]
    passed: bool | None

    def check(self, submission: ReviewSubmission) -> None:
        """Check a submission.

        Raises:
            ValidationError: All problems, by field.
        """
        problems = dict(self._problems(submission))
        if problems:
            raise ValidationError(problems)

    def _problems(self, submission: ReviewSubmission) -> Iterator[tuple[str, str]]:
        if problem := self._missing(submission):
            yield problem
        for verdict in submission.verdicts:
            yield from self._problems_of(verdict)
        for name, text in as_draft(submission).items():
            if len(text) > MOST_TEXT:
                many = f"{len(text):,} characters are too long: write at most {MOST_TEXT:,}."
                yield name, many

    def _missing(self, submission: ReviewSubmission) -> tuple[str, str] | None:
        given = Counter(verdict.criterion for verdict in submission.verdicts)
        whole = WHOLE_TEST in given
        if twice := [key for key, n in given.items() if n > 1]:
            return field_of(OPTION, twice[0]), "Two verdicts on the same criterion: choose one."
        if whole and len(given) > 1:
            return OPTION, "Judge the whole answer or its criteria, not both."
        if self.scope == ReviewScope.CRITERIA and whole:
            return (
                OPTION,
                "Judge each criterion: this queue does not ask for a verdict on the whole.",
            )
        if self.scope == ReviewScope.WHOLE and given and not whole:
            return OPTION, "Judge the whole answer: this queue does not ask for criteria."
        if not given:
            on_whole = self.scope != ReviewScope.CRITERIA
            first = OPTION if on_whole else field_of(OPTION, min(self.needed))
            return first, "Choose a verdict."
        left = sorted(self.needed - given.keys()) if not whole else []
        return (
            (field_of(OPTION, left[0]), f"Choose a verdict: criteria left: {len(left)}.")
            if left
            else None
        )

    def _problems_of(self, verdict: Verdict) -> Iterator[tuple[str, str]]:
        question = self.questions.get(verdict.criterion)
        if question is None:
            name = field_of(OPTION, verdict.criterion)
            yield name, f"The rubric has no criterion {verdict.criterion!r}."
        elif (option := question.scale.option_of(verdict.option)) is None:
            labels = ", ".join(option.label for option in question.scale.options)
            problem = (
                f"{verdict.option!r} is not one of {labels}."
                if verdict.option
                else "Choose a verdict."
            )
            yield field_of(OPTION, verdict.criterion), problem
        elif not verdict.justification.strip():
            if self.reasoning == Reasoning.ALWAYS:
                yield field_of(REASON, verdict.criterion), "Enter a reason."
            elif not self.is_hidden and self._agrees(verdict.criterion, option.value) is False:
                problem = "Enter a reason for overriding the judges."
                yield field_of(REASON, verdict.criterion), problem

    def _agrees(self, key: str, value: float) -> bool | None:
        """Compare a verdict with the judges'; None if they gave none."""
        if key == WHOLE_TEST:
            if self.passed is None:
                return None
            return self.result.revision.passes(value) == self.passed
        if key not in self.values:
            return None
        return round(abs(value - self.values[key]), DIGITS) <= APART

    def agrees(self, submission: ReviewSubmission) -> bool | None:
        """Tell whether the judges agree with all verdicts; None if they gave none."""
        found = []
        for verdict in submission.verdicts:
            question = self.questions.get(verdict.criterion)
            option = question.scale.option_of(verdict.option) if question else None
            found.append(self._agrees(verdict.criterion, option.value) if option else None)
        measured = [agrees for agrees in found if agrees is not None]
        return all(measured) if measured else None


def requirements_for(assignment: Assignment) -> Requirements:
    """Read the requirements for an assignment, in a constant number of queries."""
    result = assignment.item.result
    questions = evaluation_points_of(result)
    needed = frozenset(key for key, question in questions.items() if has_judges(question.criterion))
    values, passed = _of_judges(result, questions)
    return Requirements(
        result=result,
        questions=questions,
        needed=needed,
        scope=assignment.queue.scope if needed else ReviewScope.WHOLE,
        reasoning=assignment.queue.reasoning,
        is_hidden=is_hidden(assignment),
        values=values,
        passed=passed,
    )


def _of_judges(
    result: Result, questions: Mapping[str, EvaluationPoint]
) -> tuple[dict[str, float], bool | None]:
    judge_run = JudgeRun.objects.filter(run=result.run_id, is_active=True)
    result_score = ResultScore.objects.filter(judge_run__in=judge_run, result=result).first()
    if result_score is None:
        return {}, None
    found = consensus_of(votes_on(result_score))
    values = {
        key: value
        for key, question in questions.items()
        if (value := found.get(question.criterion.pk)) is not None
    }
    return values, result_score.passed
