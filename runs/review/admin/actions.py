"""Actions of a reviewer on the work page; each returns the next assignment and a message."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.urls import reverse

from evalhub.admin_site.pages import row_number
from evalhub.models import User
from evalhub.storable import UNSTORABLE
from issues.revisions import scale_of
from issues.rubrics.scoring import WHOLE_TEST
from runs.admin.result.example_marking import MARK
from runs.figures.verdict_labels import verdict_label
from runs.models import Result
from runs.review.admin.action_message import ActionMessage
from runs.review.admin.form_input import FormInput
from runs.review.admin.judge_summary import judge_summary
from runs.review.blindness import is_hidden
from runs.review.models import Assignment, AssignmentState, Queue, QueueState
from runs.review.reservations import NoAssignment, release, renew, take
from runs.review.review_records import LOST
from runs.review.submit import Submitted, reopen, save_draft, skip, submit, undo
from runs.scoring.verdict import verdicts_on

SHOWN = (
    "queue",
    "item__result__run",
    "item__result__issue",
    "item__result__test",
    "item__result__tag_set",
    "item__result__revision__template",
    "sent_back_by",
)
GONE = "Your reservation expired and somebody took this item."


class Problem(NamedTuple):
    """A problem with a form's field; `field` "" for the form as a whole."""

    field: str
    text: str


@dataclass(frozen=True)
class ActionResult:
    """The outcome of an action.

    `assignment` None: no items are left for this reviewer. `problems`: refused, the page stays.
    `is_lost`: somebody else has the assignment. `is_left`: the reviewer stops for now.
    """

    assignment: Assignment | None = None
    action_message: ActionMessage | None = None
    problems: list[Problem] = field(default_factory=list)
    is_lost: bool = False
    is_left: bool = False


class ReviewSession(NamedTuple):
    """A reviewer, their queue, and the form they sent."""

    queue: Queue
    reviewer: User
    sent: QueryDict

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

    def next(self, action_message: ActionMessage | None = None) -> ActionResult:
        return ActionResult(take(self.queue, by=self.reviewer), action_message)


# Navigation --------------------------------------------------------------------------------------


def open_assignment(review_session: ReviewSession) -> ActionResult:
    """Open the assignment in the URL if it is still the reviewer's, else the next."""
    assignment = review_session.own()
    if (
        assignment
        and assignment.state != AssignmentState.SUBMITTED
        and review_session.queue.state == QueueState.CLOSED
    ):
        return ActionResult()
    if assignment and (
        assignment.state == AssignmentState.SUBMITTED
        or renew(assignment, by=review_session.reviewer)
    ):
        return ActionResult(assignment)
    return review_session.next()


def go_next(review_session: ReviewSession) -> ActionResult:
    return review_session.next()


def go_earlier(review_session: ReviewSession) -> ActionResult:
    """Open the item submitted before the one shown, or last."""
    here = review_session.own()
    before = _submitted(review_session)
    if here and here.state == AssignmentState.SUBMITTED:
        before = before.filter(
            Q(submitted_at__lt=here.submitted_at)
            | Q(submitted_at=here.submitted_at, pk__lt=here.pk)
        )
    found = before.order_by("-submitted_at", "-pk").first()
    if found:
        return ActionResult(found)
    action_message = ActionMessage("No earlier submissions of yours in this queue.")
    return ActionResult(here, action_message) if here else review_session.next(action_message)


def go_later(review_session: ReviewSession) -> ActionResult:
    """Return from a submitted item towards the open one."""
    here = review_session.own()
    if here is None or here.state != AssignmentState.SUBMITTED:
        return review_session.next()
    after = _submitted(review_session).filter(
        Q(submitted_at__gt=here.submitted_at) | Q(submitted_at=here.submitted_at, pk__gt=here.pk)
    )
    found = after.order_by("submitted_at", "pk").first()
    return ActionResult(found) if found else review_session.next()


def _submitted(review_session: ReviewSession) -> QuerySet[Assignment]:
    return review_session.assignments.filter(
        annotator=review_session.reviewer, state=AssignmentState.SUBMITTED
    )


def leave(review_session: ReviewSession) -> ActionResult:
    """Release the item; its draft is kept until somebody else takes it."""
    assignment = review_session.own()
    if assignment and assignment.state == AssignmentState.RESERVED:
        _save_form_input(assignment, review_session)
        release(assignment, by=review_session.reviewer)
    return ActionResult(is_left=True)


def _save_form_input(assignment: Assignment, review_session: ReviewSession) -> None:
    """Save the draft, if any was sent: without scripts the form is not sent along."""
    if fields := FormInput.read(review_session.sent).fields:
        save_draft(assignment, fields, by=review_session.reviewer)


# Submitting and skipping -------------------------------------------------------------------------


def submit_item(review_session: ReviewSession) -> ActionResult:
    assignment, form_input = review_session.own(), FormInput.read(review_session.sent)
    if assignment is None:
        return _gone()
    was_hidden = is_hidden(assignment)
    if assignment.state != AssignmentState.SUBMITTED:
        save_draft(assignment, form_input.fields, by=review_session.reviewer)
    submitted = submit(assignment, form_input.submission(), by=review_session.reviewer)
    action_message = _submitted_message(submitted, form_input, was_hidden=was_hidden)
    return review_session.next(replace(action_message, **_example_of(submitted, review_session)))


def _gone() -> ActionResult:
    return ActionResult(problems=[Problem("", GONE)], is_lost=True)


def _submitted_message(
    submitted: Submitted, form_input: FormInput, *, was_hidden: bool
) -> ActionMessage:
    """Confirm the verdict; after a blind review, reveal the judges'."""
    result = submitted.result
    option = _option_label(result, form_input.option())
    yours = f"Your verdict: {option}." if option else "You judged the criteria."
    judges = f" Judges: {judge_summary(verdicts_on(result).active)}." if was_hidden else ""
    return ActionMessage.about(result, f"Saved. {yours}{judges}", undo=True)


def _example_of(submitted: Submitted, review_session: ReviewSession) -> dict[str, Any]:
    """Return the verdict on the whole, if the reviewer may mark it as a labelled example."""
    result = submitted.result
    if result.test.sealed or not review_session.reviewer.has_perm(MARK):
        return {}
    whole = submitted.assignment.evaluations.filter(criterion__key=WHOLE_TEST).first()
    url = reverse("admin:runs_result_example", args=[result.pk])
    return {"evaluation": whole.pk, "example_url": url} if whole else {}


def _option_label(result: Result, label: str) -> str:
    option = scale_of(result.revision.template).option_of(label) if label else None
    return verdict_label(label, None, result.revision.passes(option.value)) if option else ""


def skip_item(review_session: ReviewSession) -> ActionResult:
    """Skip the item; skipping twice is harmless."""
    assignment = review_session.assignment()
    if assignment is None:
        return _gone()
    reason = UNSTORABLE.sub(
        "", review_session.sent.get("ready") or review_session.sent.get("reason") or ""
    ).strip()
    _save_form_input(assignment, review_session)
    skip(assignment, reason, by=review_session.reviewer)
    return review_session.next(ActionMessage(f"Skipped: {reason}", undo=True))


def undo_last(review_session: ReviewSession) -> ActionResult:
    """Undo the last submission or skip, or reopen the submitted item shown."""
    here = review_session.own()
    if here and here.state == AssignmentState.SUBMITTED:
        action_message = ActionMessage("Reopened: change your verdict and submit it again.")
        return ActionResult(reopen(here, by=review_session.reviewer), action_message)
    assignment = undo(review_session.queue, by=review_session.reviewer)
    if assignment is not None:
        return ActionResult(
            assignment, ActionMessage("Undone: the item is yours again, with your draft.")
        )
    action_message = ActionMessage("Nothing to undo in this queue.")
    return ActionResult(here, action_message) if here else review_session.next(action_message)


ACTS: dict[str, Callable[[ReviewSession], ActionResult]] = {
    "next": go_next,
    "earlier": go_earlier,
    "later": go_later,
    "leave": leave,
    "submit": submit_item,
    "skip": skip_item,
    "undo": undo_last,
}


def done(name: str, review_session: ReviewSession) -> ActionResult:
    """Perform an action; collect problems by field if it is refused."""
    try:
        return ACTS[name](review_session)
    except NoAssignment as refused:
        return ActionResult(review_session.own(), problems=[Problem("", str(refused))])
    except ValidationError as error:
        is_lost = getattr(error, "code", "") == LOST
        return ActionResult(review_session.own(), problems=problems_in(error), is_lost=is_lost)


def problems_in(error: ValidationError) -> list[Problem]:
    if not hasattr(error, "error_dict"):
        return [Problem("", message) for message in error.messages]
    return [
        Problem("" if name == NON_FIELD_ERRORS else name, message)
        for name, messages in error.message_dict.items()
        for message in messages
    ]


# In the background -------------------------------------------------------------------------------


def keep_draft(review_session: ReviewSession) -> bool:
    """Save the draft; False if somebody else has the assignment."""
    assignment = review_session.own()
    return assignment is not None and save_draft(
        assignment, FormInput.read(review_session.sent).fields, by=review_session.reviewer
    )


def hold(review_session: ReviewSession) -> bool:
    """Extend the reservation; False if somebody else has the assignment."""
    assignment = review_session.own()
    return assignment is not None and renew(assignment, by=review_session.reviewer)


MEANWHILE: dict[str, Callable[[ReviewSession], bool]] = {"draft": keep_draft, "renew": hold}
