"""A pair of answers as its reviewer sees it: without the names of runs and models."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalhub.models import User
from issues.rubrics.scales import Option as ScaleOption
from runs.admin.result.evaluation_entries import Choice
from runs.admin.result.verdict_form import Option, VerdictForm, VerdictPoint
from runs.models import Result
from runs.review.models import Assignment, AssignmentState, Reasoning
from runs.review.pair_items import EQUAL, A, B, PairItem, choice_in_words, pair_shown
from runs.review.submission import OPTION, REASON, SECONDS

LABELS = {A: "A is better", B: "B is better", EQUAL: "Equal"}


@dataclass(frozen=True)
class PairTexts:
    """The content of the test, as `ItemPage.page` has it."""

    content: dict[str, Any]


@dataclass(frozen=True)
class PairPage:
    """An assignment on a pair; it has what the templates read of an `ItemPage`.

    `chosen`: what a submitted one says, with the name of the run.
    """

    assignment: Assignment
    result: Result
    page: PairTexts
    pair: PairItem
    draft: Mapping[str, str]
    form: VerdictForm
    chosen: str

    is_hidden = True
    reasons = ()

    @property
    def is_earlier(self) -> bool:
        return self.assignment.state == AssignmentState.SUBMITTED


def pair_page(
    assignment: Assignment, reader: User, draft: Mapping[str, str], *, act_url: str
) -> PairPage:
    """Read the pair of an assignment; its texts are the reader's to see: the caller has checked."""
    queue, is_closed = assignment.queue, assignment.state == AssignmentState.SUBMITTED
    needs_reason = queue.reasoning == Reasoning.ALWAYS
    options = [
        Option(
            Choice(key, ScaleOption(key, "", 0.0), None, label),
            draft.get(OPTION) == key,
            needs_reason,
        )
        for key, label in LABELS.items()
        if queue.ties or key != EQUAL
    ]
    return PairPage(
        assignment=assignment,
        result=assignment.item.result,
        page=PairTexts(assignment.item.result.revision.content),
        pair=pair_shown(assignment, reader),
        draft=draft,
        form=VerdictForm(
            id="review-form",
            url=act_url,
            points=[VerdictPoint("", options, draft.get(REASON, ""))],
            hidden={"assignment": assignment.pk, "act": "submit", SECONDS: draft.get(SECONDS, "")},
            save="Submit and next",
            extras="runs/review/_note.html",
            is_closed=is_closed,
        ),
        chosen=choice_in_words(assignment) if is_closed else "",
    )
