"""What a queue demands of a review of one result, and what is wrong with a sheet."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.core.exceptions import ValidationError

from issues.rubric import WHOLE_TEST
from runs.evaluating import Question, is_judged, questions_on
from runs.models import Assessment, Judging, Result
from runs.review.blindness import is_hidden
from runs.review.models import Asks, Place, Reasoning
from runs.review.sheets import MOST_TEXT, OPTION, REASON, Sheet, Verdict, as_draft, field_of
from runs.scoring import consensus_of, votes_on

APART = 0.3
"""A verdict on a criterion that lies further from the judges' than this overrides theirs."""
DIGITS = 9


@dataclass(frozen=True)
class Demands:
    """On what a reviewer decides, and what the judges said of it.

    Attributes:
        questions: By key; "" is the answer as a whole. Those that may be answered.
        needed: Keys of criteria that must be answered where criteria are.
        asks: As the queue says; as a whole where the test has no criterion to judge.
        values: What the judges found of each criterion, by key, where they gave a value.
        passed: Whether they let the answer pass; None: they did not decide.
    """

    result: Result
    questions: Mapping[str, Question]
    needed: frozenset[str]
    asks: str
    reasoning: str
    is_hidden: bool
    values: Mapping[str, float]
    passed: bool | None

    def check(self, sheet: Sheet) -> None:
        """Whether the sheet can be submitted.

        Raises:
            ValidationError: With every problem, by field.
        """
        problems = dict(self._problems(sheet))
        if problems:
            raise ValidationError(problems)

    def _problems(self, sheet: Sheet) -> Iterator[tuple[str, str]]:
        if told := self._missing(sheet):
            yield told
        for verdict in sheet.verdicts:
            yield from self._problems_of(verdict)
        for name, text in as_draft(sheet).items():
            if len(text) > MOST_TEXT:
                many = f"{len(text):,} characters are too many: write at most {MOST_TEXT:,}."
                yield name, many

    def _missing(self, sheet: Sheet) -> tuple[str, str] | None:
        given = Counter(verdict.criterion for verdict in sheet.verdicts)
        whole = WHOLE_TEST in given
        if twice := [key for key, n in given.items() if n > 1]:
            return field_of(OPTION, twice[0]), "There are two verdicts on this: give one."
        if whole and len(given) > 1:
            return OPTION, "Judge the answer as a whole or by its criteria, not both."
        if self.asks == Asks.CRITERIA and whole:
            return OPTION, "Judge each criterion: this queue does not ask about the whole."
        if self.asks == Asks.WHOLE and given and not whole:
            return OPTION, "Judge the answer as a whole: this queue does not ask for criteria."
        if not given:
            on_whole = self.asks != Asks.CRITERIA
            first = OPTION if on_whole else field_of(OPTION, min(self.needed))
            return first, "Choose one."
        left = sorted(self.needed - given.keys()) if not whole else []
        return (field_of(OPTION, left[0]), f"Choose one: {len(left)} left.") if left else None

    def _problems_of(self, verdict: Verdict) -> Iterator[tuple[str, str]]:
        question = self.questions.get(verdict.criterion)
        if question is None:
            name = field_of(OPTION, verdict.criterion)
            yield name, f"The rubric has no criterion {verdict.criterion!r}."
        elif (option := question.scale.option_of(verdict.option)) is None:
            labels = ", ".join(option.label for option in question.scale.options)
            told = (
                f"{verdict.option!r} is not one of {labels}." if verdict.option else "Choose one."
            )
            yield field_of(OPTION, verdict.criterion), told
        elif not verdict.justification.strip():
            if self.reasoning == Reasoning.ALWAYS:
                yield field_of(REASON, verdict.criterion), "Say in a sentence why."
            elif not self.is_hidden and self._agrees(verdict.criterion, option.value) is False:
                told = "The judges say otherwise: say in a sentence why."
                yield field_of(REASON, verdict.criterion), told

    def _agrees(self, key: str, value: float) -> bool | None:
        """Whether the judges say the same; None where they say nothing of it."""
        if key == WHOLE_TEST:
            if self.passed is None:
                return None
            return self.result.revision.passes(value) == self.passed
        if key not in self.values:
            return None
        return round(abs(value - self.values[key]), DIGITS) <= APART

    def agrees(self, sheet: Sheet) -> bool | None:
        """Whether the judges say the same of all that a good sheet is about; None: of nothing."""
        found = []
        for verdict in sheet.verdicts:
            question = self.questions.get(verdict.criterion)
            option = question.scale.option_of(verdict.option) if question else None
            found.append(self._agrees(verdict.criterion, option.value) if option else None)
        measured = [agrees for agrees in found if agrees is not None]
        return all(measured) if measured else None


def demands_on(place: Place) -> Demands:
    """Those of the place's queue on a review of its result, in a constant number of queries."""
    result = place.item.result
    questions = questions_on(result)
    needed = frozenset(key for key, question in questions.items() if is_judged(question.criterion))
    values, passed = _of_judges(result, questions)
    return Demands(
        result=result,
        questions=questions,
        needed=needed,
        asks=place.queue.asks if needed else Asks.WHOLE,
        reasoning=place.queue.reasoning,
        is_hidden=is_hidden(place),
        values=values,
        passed=passed,
    )


def _of_judges(
    result: Result, questions: Mapping[str, Question]
) -> tuple[dict[str, float], bool | None]:
    judging = Judging.objects.filter(run=result.run_id, is_current=True)
    assessment = Assessment.objects.filter(judging__in=judging, result=result).first()
    if assessment is None:
        return {}, None
    found = consensus_of(votes_on(assessment))
    values = {
        key: value
        for key, question in questions.items()
        if (value := found.get(question.criterion.pk)) is not None
    }
    return values, assessment.passed
