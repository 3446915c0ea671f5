"""What the work page shows of one item. Nothing that is hidden from its reviewer is in it."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalhub.formatting import score
from evalhub.models import User
from evalhub.word_diff import Diff, word_diff
from issues.revisions import scale_of
from issues.rubrics.scoring import WHOLE_TEST
from runs.admin.result.page import ResultPage, page_of
from runs.admin.result.page_parts import Choice, whole_choices
from runs.admin.result.rubric import JudgeVerdict, Row
from runs.models import Result, Run
from runs.review.admin.form_input import FormInput
from runs.review.admin.judge_summary import judge_summary
from runs.review.blindness import is_hidden
from runs.review.models import Assignment, AssignmentState, Queue, Reasoning, ReviewScope
from runs.review.requirements import APART
from runs.review.submission import OPTION, REASON, field_of


@dataclass(frozen=True)
class Option:
    """One answer to choose. `needs_reason`: it is given with a sentence only."""

    choice: Choice
    is_chosen: bool
    needs_reason: bool


@dataclass(frozen=True)
class ReviewPoint:
    """One thing to decide on: a criterion, or the answer as a whole (key "").

    `judged` is what judges found, in words, and `judge_verdict` who of them said what; both are
    empty
    where that is hidden.
    """

    key: str
    title: str
    options: list[Option]
    reason: str
    number: int = 0
    polarity: str = ""
    is_inverted: bool = False
    marks: tuple[str, ...] = ()
    citation: str = ""
    judged: str = ""
    judge_verdict: Sequence[JudgeVerdict] = ()

    @property
    def option_name(self) -> str:
        return field_of(OPTION, self.key)

    @property
    def reason_name(self) -> str:
        return field_of(REASON, self.key)

    @property
    def reason_is(self) -> str:
        """When a sentence is needed, in words."""
        needed = [option.needs_reason for option in self.options]
        if all(needed):
            return "needed"
        return "needed where you overrule the judges" if any(needed) else "if you like"


@dataclass(frozen=True)
class ItemPage:
    """One place in a queue, with what its reviewer may see and has typed.

    `judged` None: what judges and others say is hidden, and so are run and model. `page` is for
    the test's own texts and the conversation.
    """

    assignment: Assignment
    result: Result
    page: ResultPage
    form_input: FormInput
    whole: ReviewPoint | None
    points: list[ReviewPoint]
    judged: str | None
    diff: Diff | None

    @property
    def is_hidden(self) -> bool:
        return self.judged is None

    @property
    def run(self) -> Run | None:
        return None if self.is_hidden else self.result.run

    @property
    def is_earlier(self) -> bool:
        """Whether its verdict was given already."""
        return self.assignment.state == AssignmentState.SUBMITTED

    @property
    def answer_text(self) -> str:
        return self.page.answer.text if self.page.answer else ""


def item_page(
    assignment: Assignment, reader: User, form_input: FormInput | None = None
) -> ItemPage:
    """Read the item of an assignment.

    `form_input`: the input that was just sent, in place of the draft.

    The place was read with queue, item, and its result's run, issue, test, tag_set and revision
    with template. Its texts are the reader's to see: the caller has checked.
    """
    result, queue = assignment.item.result, assignment.queue
    page = page_of(result, reader)
    form_input = form_input or FormInput(assignment.draft)
    hidden = is_hidden(assignment)
    points = _points(page, queue, form_input, hidden=hidden)
    by_point = queue.scope == ReviewScope.CRITERIA and points
    return ItemPage(
        assignment=assignment,
        result=result,
        page=page,
        form_input=form_input,
        whole=None if by_point else _whole(page, queue, form_input, hidden=hidden),
        points=[] if queue.scope == ReviewScope.WHOLE else points,
        judged=None if hidden else judge_summary(result),
        diff=_diff(page),
    )


def _diff(page: ResultPage) -> Diff | None:
    """The reference against the answer; None where one is missing."""
    if page.reference is None or page.answer is None:
        return None
    return word_diff(page.reference.raw, page.answer.text)


# What is asked -----------------------------------------------------------------------------------


def _whole(page: ResultPage, queue: Queue, form_input: FormInput, *, hidden: bool) -> ReviewPoint:
    revision = page.result.revision
    result_score = page.current.result_score if page.current else None
    judged = None if hidden or result_score is None else result_score.passed
    choices = whole_choices(scale_of(revision.template), revision.passes, judged=None)
    return ReviewPoint(
        key=WHOLE_TEST,
        title="The answer as a whole",
        options=[
            _option(
                choice,
                form_input.option(),
                queue,
                overrides=judged is not None and choice.passed is not judged,
            )
            for choice in choices
        ],
        reason=form_input.reason(),
    )


def _points(
    page: ResultPage, queue: Queue, form_input: FormInput, *, hidden: bool
) -> list[ReviewPoint]:
    """The criteria that people decide on: a check decides its own."""
    return [_point(row, queue, form_input, hidden=hidden) for row in page.rows if not row.check]


def _point(row: Row, queue: Queue, form_input: FormInput, *, hidden: bool) -> ReviewPoint:
    criterion = row.criterion
    judged = None if hidden else row.judged
    return ReviewPoint(
        key=criterion.key,
        title=row.title,
        options=[
            _option(
                choice, form_input.option(criterion.key), queue, overrides=_is_far(choice, judged)
            )
            for choice in row.choices
        ],
        reason=form_input.reason(criterion.key),
        number=row.number,
        polarity=criterion.get_polarity_display(),
        is_inverted=criterion.is_inverted,
        marks=(
            *(["mandatory"] * criterion.mandatory),
            *([row.alternative_label] if row.alternative_label else []),
        ),
        citation=criterion.citation,
        judged="" if judged is None else f"shown {score(judged)}",
        judge_verdict=() if hidden else row.judge_verdict,
    )


def _is_far(choice: Choice, judged: float | None) -> bool:
    return judged is not None and abs(choice.option.value - judged) > APART + 1e-9


def _option(choice: Choice, chosen: str, queue: Queue, *, overrides: bool) -> Option:
    needs_reason = overrides or queue.reasoning == Reasoning.ALWAYS
    return Option(choice, choice.option.label == chosen, needs_reason)
