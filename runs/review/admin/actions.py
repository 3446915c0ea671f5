"""Actions of a reviewer on the work page; each returns the next assignment and a message."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import Q, QuerySet
from django.http import QueryDict

from evalhub.admin_site.pages import row_number
from evalhub.models import User
from evalhub.values.storable import UNSTORABLE
from issues.content.revisions import scale_of
from issues.rubrics.scoring import WHOLE_TEST
from runs.admin.result.example_marking import MARK
from runs.figures.verdict_labels import verdict_label
from runs.review.admin.item_page import judge_summary
from runs.review.assignment_actions import reopen, save_draft, skip, submit, undo
from runs.review.models import Assignment, AssignmentState, Queue, QueueState
from runs.review.pair_items import choice_in_words
from runs.review.requirements import is_hidden
from runs.review.reservations import (
    ANSWERED,
    EXPIRED,
    LOST,
    NoAssignment,
    release,
    renew,
    take,
)
from runs.review.review_draft import OPTION, draft_in, submission_of
from runs.scoring.verdict import verdicts_on

REPLACES = "replaces"
"""The field of a form whose verdict replaces an earlier one of the reviewer."""
SHOWN = (
    "queue",
    "item__result__run",
    "item__result__issue",
    "item__result__test",
    "item__result__tag_set",
    "item__result__revision__template",
    "item__other",
    "pair_evaluation__pair",
    "sent_back_by",
)


@dataclass(frozen=True)
class ActionMessage:
    """A message about the last action, above the next item; `undo`: offer to undo the action.

    `result` is the id of a result to link to, and `evaluation` that of its human evaluation that
    can be marked as a labelled example; 0 for none.
    """

    text: str
    kind: str = ""
    undo: bool = False
    result: int = 0
    evaluation: int = 0


@dataclass(frozen=True)
class ActionResult:
    """The outcome of an action.

    `assignment` None: no items are left for this reviewer. `problems`, by field ("" for the form as
    a whole): refused, the page stays. `is_lost`: somebody else has the assignment. `is_left`: the
    reviewer stops for now. `replaces`: an earlier verdict of theirs stays unless they replace it
    with what they sent.
    """

    assignment: Assignment | None = None
    message: ActionMessage | None = None
    problems: list[dict[str, str]] = field(default_factory=list)
    is_lost: bool = False
    is_left: bool = False
    replaces: bool = False


class ReviewSession(NamedTuple):
    """A reviewer, their queue, and the form they sent."""

    queue: Queue
    reviewer: User
    sent: QueryDict

    @property
    def draft(self) -> dict[str, str]:
        return draft_in(self.sent)

    @property
    def assignments(self) -> QuerySet[Assignment]:
        readable: QuerySet[Assignment] = Assignment.objects.readable_by(self.reviewer)
        return readable.filter(queue=self.queue).select_related(*SHOWN)

    def assignment(self) -> Assignment | None:
        """Return the assignment of the page, whoever has it now."""
        return self.assignments.filter(pk=row_number(self.sent.get("assignment"))).first()

    def own(self) -> Assignment | None:
        assignment = self.assignment()
        return assignment if assignment and assignment.annotator_id == self.reviewer.pk else None

    @property
    def has_submitted(self) -> bool:
        """The reviewer has submitted the page's item, such as in another tab."""
        here = self.own()
        return here is not None and here.state == AssignmentState.SUBMITTED

    def next(self, message: ActionMessage | None = None) -> ActionResult:
        return ActionResult(take(self.queue, by=self.reviewer), message)


# Navigation --------------------------------------------------------------------------------------


def open_assignment(session: ReviewSession) -> ActionResult:
    """Open the assignment in the URL if it is still the reviewer's, else the next."""
    assignment = session.own()
    if assignment and (
        assignment.state == AssignmentState.SUBMITTED
        or (session.queue.state == QueueState.OPEN and renew(assignment, by=session.reviewer))
    ):
        return ActionResult(assignment)
    return session.next()


def go_earlier(session: ReviewSession) -> ActionResult:
    """Open the item submitted before the one shown, or last."""
    here = session.own()
    before = _submitted(session)
    if here and here.state == AssignmentState.SUBMITTED:
        before = before.filter(
            Q(submitted_at__lt=here.submitted_at)
            | Q(submitted_at=here.submitted_at, pk__lt=here.pk)
        )
    found = before.order_by("-submitted_at", "-pk").first()
    if found:
        return ActionResult(found)
    message = ActionMessage("No earlier submissions of yours in this queue.")
    return ActionResult(here, message) if here else session.next(message)


def go_later(session: ReviewSession) -> ActionResult:
    """Return from a submitted item towards the open one."""
    here = session.own()
    if here is None or here.state != AssignmentState.SUBMITTED:
        return session.next()
    after = _submitted(session).filter(
        Q(submitted_at__gt=here.submitted_at) | Q(submitted_at=here.submitted_at, pk__gt=here.pk)
    )
    found = after.order_by("submitted_at", "pk").first()
    return ActionResult(found) if found else session.next()


def _submitted(session: ReviewSession) -> QuerySet[Assignment]:
    return session.assignments.filter(annotator=session.reviewer, state=AssignmentState.SUBMITTED)


def leave(session: ReviewSession) -> ActionResult:
    """Release the item; its draft is kept until somebody else takes it."""
    assignment = session.own()
    if assignment and assignment.state == AssignmentState.RESERVED:
        _save_draft_if_sent(assignment, session)
        release(assignment, by=session.reviewer)
    return ActionResult(is_left=True)


def _save_draft_if_sent(assignment: Assignment, session: ReviewSession) -> None:
    """Save the draft, unless the browser has no scripts and sent another form."""
    if draft := session.draft:
        save_draft(assignment, draft, by=session.reviewer)


# Submitting and skipping -------------------------------------------------------------------------


def submit_item(session: ReviewSession) -> ActionResult:
    """Submit the review and confirm the verdict; after a blind review, reveal the judges'."""
    assignment, draft = session.own(), session.draft
    if assignment is None:
        raise ValidationError(EXPIRED, code=LOST)
    was_hidden = is_hidden(assignment)
    if assignment.state != AssignmentState.SUBMITTED:
        save_draft(assignment, draft, by=session.reviewer)
    try:
        assignment = submit(
            assignment,
            submission_of(draft),
            by=session.reviewer,
            replaces=REPLACES in session.sent,
        ).assignment
    except ValidationError as error:
        if getattr(error, "code", "") != ANSWERED:
            raise
        earlier = session.assignments.get(pk=assignment.pk)
        text = f"Not saved: you have submitted this item before ({verdict_in_words(earlier)})."
        message = ActionMessage(f"{text} That stays unless you replace it.", kind="warning")
        return ActionResult(earlier, message, replaces=True)
    text = f"Saved. Your verdict: {verdict_in_words(assignment)}."
    if assignment.item.other_id:
        return session.next(ActionMessage(text, undo=True))
    result = assignment.item.result
    if was_hidden:
        text += f" Judges: {judge_summary(verdicts_on(result).active)}."
    example = None
    if not result.test.sealed and session.reviewer.has_perm(MARK):
        example = assignment.evaluations.filter(criterion__key=WHOLE_TEST).first()
    return session.next(
        ActionMessage(text, undo=True, result=result.pk, evaluation=example.pk if example else 0)
    )


def verdict_in_words(assignment: Assignment) -> str:
    """Return what the reviewer submitted, such as "passes (1)"."""
    if assignment.item.other_id:
        return choice_in_words(assignment)
    revision, label = assignment.item.result.revision, assignment.draft.get(OPTION, "")
    option = scale_of(revision.template).option_of(label) if label else None
    if option is None:
        count = sum(name.startswith(f"{OPTION}:") for name in assignment.draft)
        return f"criteria judged: {count}"
    return verdict_label(label, None, revision.passes(option.value))


def skip_item(session: ReviewSession) -> ActionResult:
    """Skip the item; skipping twice is harmless."""
    assignment = session.assignment()
    if assignment is None:
        raise ValidationError(EXPIRED, code=LOST)
    sent = session.sent.get("ready") or session.sent.get("reason") or ""
    reason = UNSTORABLE.sub("", sent).strip()
    _save_draft_if_sent(assignment, session)
    skip(assignment, reason, by=session.reviewer)
    return session.next(ActionMessage(f"Skipped: {reason}", undo=True))


def undo_last(session: ReviewSession) -> ActionResult:
    """Undo the last submission or skip, or reopen the submitted item shown."""
    here = session.own()
    if here and here.state == AssignmentState.SUBMITTED:
        message = ActionMessage("Reopened: change your verdict and submit it again.")
        return ActionResult(reopen(here, by=session.reviewer), message)
    assignment = undo(session.queue, by=session.reviewer)
    if assignment is not None:
        return ActionResult(
            assignment, ActionMessage("Undone: the item is yours again, with your draft.")
        )
    message = ActionMessage("Nothing to undo in this queue.")
    return ActionResult(here, message) if here else session.next(message)


ACTIONS: dict[str, Callable[[ReviewSession], ActionResult]] = {
    "next": ReviewSession.next,
    "earlier": go_earlier,
    "later": go_later,
    "leave": leave,
    "submit": submit_item,
    "skip": skip_item,
    "undo": undo_last,
}


def done(name: str, session: ReviewSession) -> ActionResult:
    """Perform an action; collect problems by field if it is refused."""
    try:
        return ACTIONS[name](session)
    except NoAssignment as refused:
        problems = [{"field": "", "text": str(refused)}]
        return ActionResult(session.own(), problems=problems)
    except ValidationError as error:
        is_lost = getattr(error, "code", "") == LOST
        return ActionResult(session.own(), problems=problems_in(error), is_lost=is_lost)


def problems_in(error: ValidationError) -> list[dict[str, str]]:
    by_field = error.update_error_dict({})
    return [
        {"field": "" if name == NON_FIELD_ERRORS else name, "text": message}
        for name, errors in by_field.items()
        for message in ValidationError(errors).messages
    ]


# In the background -------------------------------------------------------------------------------


def keep_draft(session: ReviewSession) -> bool:
    """Save the draft; False if somebody else has the assignment."""
    assignment = session.own()
    return assignment is not None and save_draft(assignment, session.draft, by=session.reviewer)


def extend(session: ReviewSession) -> bool:
    """Extend the reservation; False if somebody else has the assignment."""
    assignment = session.own()
    return assignment is not None and renew(assignment, by=session.reviewer)


BACKGROUND_ACTIONS: dict[str, Callable[[ReviewSession], bool]] = {
    "draft": keep_draft,
    "renew": extend,
}
