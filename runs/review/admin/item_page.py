"""An item of a queue as its reviewer sees it, without what a blind review hides."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalhub.display.formatting import score
from evalhub.display.word_diff import Diff, word_diff
from evalhub.models import User
from issues.rubrics.scales import Option as ScaleOption
from issues.rubrics.scoring import WHOLE_TEST
from runs.admin.result.evaluation_entries import Choice
from runs.admin.result.page import ResultPage, page_of
from runs.admin.result.rubric import Row
from runs.admin.result.verdict_form import Option, VerdictForm, VerdictPoint
from runs.models import Result, Run
from runs.review.models import Assignment, AssignmentState, Queue, Reasoning, ReviewScope
from runs.review.pair_items import EQUAL, A, B, PairItem, choice_in_words, pair_shown
from runs.review.reasons import reason_descriptions
from runs.review.requirements import hides_others, is_apart, is_hidden
from runs.review.review_draft import OPTION, REASON, SECONDS, field_of
from runs.scoring.verdict import ResultVerdict

LABELS = {A: "A is better", B: "B is better", EQUAL: "Equal"}
WHICH = "Which is better?"


@dataclass(frozen=True, kw_only=True)
class AssignmentPage:
    """An assignment with the reviewer's input."""

    assignment: Assignment
    draft: Mapping[str, str]
    form: VerdictForm

    @property
    def result(self) -> Result:
        return self.assignment.item.result

    @property
    def is_earlier(self) -> bool:
        return self.assignment.state == AssignmentState.SUBMITTED


@dataclass(frozen=True, kw_only=True)
class ItemPage(AssignmentPage):
    """An answer to review, with its texts.

    `judged` None: a blind review, which hides judges, other annotators, run and model. `page` has
    the test's texts and the conversation. `hides_others`: other people's verdicts are hidden.
    """

    page: ResultPage
    reasons: list[str]
    judged: str | None
    diff: Diff | None
    hides_others: bool

    @property
    def is_hidden(self) -> bool:
        return self.judged is None

    @property
    def run(self) -> Run | None:
        return None if self.is_hidden else self.result.run

    @property
    def answer_language(self) -> str:
        """As a check found it, which a blind review hides too."""
        return "" if self.is_hidden else self.page.language


@dataclass(frozen=True, kw_only=True)
class PairPage(AssignmentPage):
    """A pair of answers, without the names of runs and models.

    `chosen`: what a submitted one says, with the name of the run.
    """

    pair: PairItem
    chosen: str
    is_hidden = True


def assignment_page(
    assignment: Assignment, reader: User, draft: Mapping[str, str], *, act_url: str
) -> ItemPage | PairPage:
    """Read what an assignment is about; its texts are the reader's to see: the caller has checked.

    `assignment` was read with queue, item, and the result's run, issue, test, tag set and revision
    with template. `draft` fills the form.
    """
    read = _pair_page if assignment.item.other_id else _item_page
    return read(assignment, reader, draft, act_url)


def _form(
    assignment: Assignment,
    draft: Mapping[str, str],
    act_url: str,
    points: Sequence[VerdictPoint],
    **more: Any,
) -> VerdictForm:
    return VerdictForm(
        id="review-form",
        url=act_url,
        points=points,
        hidden={"assignment": assignment.pk, "act": "submit", SECONDS: draft.get(SECONDS, "")},
        save="Submit and next",
        is_closed=assignment.state == AssignmentState.SUBMITTED,
        **more,
    )


def _item_page(
    assignment: Assignment, reader: User, draft: Mapping[str, str], act_url: str
) -> ItemPage:
    item, queue = assignment.item, assignment.queue
    page = page_of(item.result, reader)
    hidden = is_hidden(assignment)
    # Checks are not reviewed.
    rows = [row for row in page.rows if not row.check] if queue.scope != ReviewScope.WHOLE else []
    by_point = queue.scope == ReviewScope.CRITERIA and rows
    points = [
        *([] if by_point else [_whole(page, queue, draft, hidden=hidden)]),
        *(_point(row, queue, draft, hidden=hidden) for row in rows),
    ]
    agreed = None if by_point or hidden else page.agreed
    extras = "runs/review/_note_and_correction.html"
    reference = page.content["reference"]
    return ItemPage(
        assignment=assignment,
        page=page,
        draft=draft,
        reasons=[] if hidden else reason_descriptions(item.reasons, is_random=item.is_random),
        form=_form(assignment, draft, act_url, points, agreed=agreed, extras=extras),
        judged=None if hidden else judge_summary(page.active.verdict),
        diff=word_diff(reference, page.answer.text) if reference and page.answer else None,
        hides_others=hides_others(assignment),
    )


def _pair_page(
    assignment: Assignment, reader: User, draft: Mapping[str, str], act_url: str
) -> PairPage:
    queue = assignment.queue
    keys = [key for key in LABELS if queue.ties or key != EQUAL]
    options = [_option(choice, draft.get(OPTION), queue, False) for choice in pair_choices(keys)]
    points = [VerdictPoint(WHOLE_TEST, options, draft.get(REASON, ""), title=WHICH)]
    is_closed = assignment.state == AssignmentState.SUBMITTED
    return PairPage(
        assignment=assignment,
        pair=pair_shown(assignment, reader),
        draft=draft,
        form=_form(assignment, draft, act_url, points, extras="runs/review/_note.html"),
        chosen=choice_in_words(assignment) if is_closed else "",
    )


def pair_choices(keys: Iterable[str] = LABELS) -> list[Choice]:
    """Return the options of a pair, as it is shown."""
    return [Choice(key, ScaleOption(key, "", 0.0), None, LABELS[key]) for key in keys]


def judge_summary(verdict: ResultVerdict) -> str:
    """Return "2 of 3 pass", "fails with 0.4" for a rubric, or "no verdict"."""
    replies = [] if verdict.has_rubric else verdict.criteria[0].replies
    values = [reply.value for reply in replies if reply.value is not None]
    if values:
        passing = sum(bool(verdict.result.revision.passes(value)) for value in values)
        return f"{passing} of {len(values)} pass"
    result_score = verdict.result_score
    if result_score is None or result_score.score is None:
        return "no verdict"
    return f"{'passes' if result_score.passed else 'fails'} with {score(result_score.score)}"


# The form ----------------------------------------------------------------------------------------


def _whole(
    page: ResultPage, queue: Queue, draft: Mapping[str, str], *, hidden: bool
) -> VerdictPoint:
    result_score = page.active.verdict.result_score
    judged = None if hidden or result_score is None else result_score.passed
    options = [
        _option(choice, draft.get(OPTION), queue, judged not in (None, choice.passed))
        for choice in page.choices
    ]
    return VerdictPoint(WHOLE_TEST, options, draft.get(REASON, ""))


def _point(row: Row, queue: Queue, draft: Mapping[str, str], *, hidden: bool) -> VerdictPoint:
    key = row.criterion.key
    judged = None if hidden else row.verdict.value
    option_name, reason_name = field_of(OPTION, key), field_of(REASON, key)
    return VerdictPoint(
        key=key,
        options=[
            _option(
                choice,
                draft.get(option_name),
                queue,
                judged is not None and is_apart(choice.option.value, judged),
            )
            for choice in row.choices
        ],
        reason=draft.get(reason_name, ""),
        row=row,
        option_name=option_name,
        reason_name=reason_name,
        judged="" if judged is None else f"shown {score(judged)}",
    )


def _option(choice: Choice, chosen: str | None, queue: Queue, overrides: bool) -> Option:
    needs_reason = overrides or queue.reasoning == Reasoning.ALWAYS
    return Option(choice, choice.option.label == chosen, needs_reason)
