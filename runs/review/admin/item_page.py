"""An item of a queue as its reviewer sees it, without what a blind review hides."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalhub.formatting import score
from evalhub.models import User
from evalhub.word_diff import Diff, word_diff
from issues.revisions import scale_of
from issues.rubrics.scoring import WHOLE_TEST
from runs.admin.result.evaluation_entries import Choice, whole_choices
from runs.admin.result.page import ResultPage, page_of
from runs.admin.result.rubric import Row
from runs.models import Result, Run
from runs.review.admin.form_input import FormInput
from runs.review.admin.judge_summary import judge_summary
from runs.review.blindness import is_hidden
from runs.review.models import Assignment, AssignmentState, Queue, Reasoning, ReviewScope
from runs.review.requirements import APART
from runs.review.submission import OPTION, REASON, field_of
from runs.scoring.verdict import JudgeReply


@dataclass(frozen=True)
class Option:
    """An option of the form; `needs_reason`: a reason is required with it."""

    choice: Choice
    is_chosen: bool
    needs_reason: bool


@dataclass(frozen=True)
class ReviewPoint:
    """A criterion to review, or the answer as a whole (key "").

    `judged` is the judges' consensus in words, and `replies` are theirs; both are empty in a blind
    review.
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
    replies: Sequence[JudgeReply] = ()

    @property
    def option_name(self) -> str:
        return field_of(OPTION, self.key)

    @property
    def reason_name(self) -> str:
        return field_of(REASON, self.key)

    @property
    def reason_hint(self) -> str:
        needed = [option.needs_reason for option in self.options]
        if all(needed):
            return "required"
        return "required if you override the judges" if any(needed) else "optional"


@dataclass(frozen=True)
class ItemPage:
    """An assignment with its texts and the reviewer's input.

    `judged` None: a blind review, which hides judges, other annotators, run and model. `page` has
    the test's texts and the conversation.
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
        return self.assignment.state == AssignmentState.SUBMITTED

    @property
    def answer_text(self) -> str:
        return self.page.answer.text if self.page.answer else ""


def item_page(
    assignment: Assignment, reader: User, form_input: FormInput | None = None
) -> ItemPage:
    """Read the item of an assignment; its texts are the reader's to see: the caller has checked.

    Args:
        assignment: Read with queue, item, and the result's run, issue, test, tag set and revision
            with template.
        form_input: Input just sent, in place of the draft.
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
        judged=None if hidden else judge_summary(page.active.verdict),
        diff=_diff(page),
    )


def _diff(page: ResultPage) -> Diff | None:
    """Compare reference and answer; None if one is missing."""
    reference = page.content["reference"]
    return word_diff(reference, page.answer.text) if reference and page.answer else None


# The form ----------------------------------------------------------------------------------------


def _whole(page: ResultPage, queue: Queue, form_input: FormInput, *, hidden: bool) -> ReviewPoint:
    revision = page.result.revision
    result_score = page.active.verdict.result_score
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
    """Return the criteria to review: all without a check."""
    return [_point(row, queue, form_input, hidden=hidden) for row in page.rows if not row.check]


def _point(row: Row, queue: Queue, form_input: FormInput, *, hidden: bool) -> ReviewPoint:
    criterion = row.criterion
    judged = None if hidden else row.verdict.value
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
        replies=() if hidden else row.verdict.replies,
    )


def _is_far(choice: Choice, judged: float | None) -> bool:
    return judged is not None and abs(choice.option.value - judged) > APART + 1e-9


def _option(choice: Choice, chosen: str, queue: Queue, *, overrides: bool) -> Option:
    needs_reason = overrides or queue.reasoning == Reasoning.ALWAYS
    return Option(choice, choice.option.label == chosen, needs_reason)
