"""Submit, skip, undo and send back reviews. Everything stays in the history."""

from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse

from evalhub.models import NotificationKind, User
from evalhub.notifications.events import Event, notify
from evalhub.values import clock
from issues.rubrics.scoring import WHOLE_TEST
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation
from runs.review.corrections import correct
from runs.review.models import Assignment, AssignmentState, Correction, Queue, QueueState, Skip
from runs.review.pair_items import record_choice, withdraw_choice
from runs.review.requirements import Requirements, requirements_for
from runs.review.reservations import (
    ANSWERED,
    KEPT,
    check_holder,
    check_lengths,
    check_open,
    clear,
    locked,
    release,
    remember,
    take_item,
    until,
)
from runs.review.review_draft import ReviewSubmission, as_draft, has_input, is_same
from runs.scoring.active_evaluation_rule import active_evaluations, withdrawn
from runs.scoring.human_evaluation import HumanVerdict, evaluate_each, is_active, withdraw


class Submitted(NamedTuple):
    """A submitted assignment. `agrees` with the judges; None: they gave no verdict.

    `is_new` False: the same had been submitted before, so nothing was changed.
    """

    assignment: Assignment
    agrees: bool | None
    is_new: bool = True


@transaction.atomic
def submit(
    assignment: Assignment, submission: ReviewSubmission, *, by: User, replaces: bool = False
) -> Submitted:
    """Record the verdicts of a review, and mark the assignment as submitted.

    Repeating a submission does nothing. Another one `replaces` the first only if that is asked for.

    Raises:
        ValidationError: By field; or somebody else has the assignment (code "lost"); or the
            reviewer has submitted another verdict (code "answered"), which stays.
    """
    assignment = locked(assignment)
    is_repeated = False
    if assignment.state == AssignmentState.SUBMITTED and assignment.annotator_id == by.pk:
        is_repeated = is_same(submission, assignment.draft)
        if not is_repeated and not replaces:
            raise ValidationError(
                "You submitted another verdict on this item before: undo that one first.",
                code=ANSWERED,
            )
        if not is_repeated:
            assignment = reopen(assignment, by=by)
    requirements = requirements_for(assignment)
    agrees = requirements.agrees(submission)
    if is_repeated:
        return Submitted(assignment, agrees, is_new=False)
    check_open(assignment)
    check_holder(assignment, by)
    requirements.check(submission)
    evaluations = record_evaluations(assignment, submission, requirements, by)
    if submission.correction.strip() and not assignment.item.other_id:
        correct(assignment.item.result, submission.correction, by=by)
    assignment.state, assignment.reserved_until = AssignmentState.SUBMITTED, None
    assignment.submitted_at = clock.now()
    assignment.seconds, assignment.note = submission.seconds, submission.note.strip()
    assignment.draft = as_draft(submission)
    assignment.save()
    assignment.evaluations.set(evaluations)
    return Submitted(assignment, agrees)


def record_evaluations(
    assignment: Assignment, submission: ReviewSubmission, requirements: Requirements, by: User
) -> list[HumanEvaluation]:
    """Record the evaluations, and withdraw earlier ones that they do not replace."""
    if assignment.item.other_id:
        assignment.pair_evaluation = record_choice(assignment, submission, by)
        return []
    result = assignment.item.result
    given = {verdict.criterion for verdict in submission.verdicts}
    before = assignment.evaluations.select_related("criterion").exclude(criterion__key__in=given)
    for evaluation in before:
        if is_active(evaluation):
            withdraw(result, by=by, reason="Reviewed again.", criterion=evaluation.criterion.key)
    # An active verdict on the whole would outrank those on criteria.
    while WHOLE_TEST not in given and _has_whole(assignment, by):
        withdraw(result, by=by, reason="Reviewed by criterion.")
    is_random = assignment.item.is_random
    human_verdicts = [
        HumanVerdict(
            verdict.option,
            verdict.justification,
            chosen_by=ChosenBy.QUEUE_RANDOM if is_random else ChosenBy.QUEUE_SELECTED,
            blind=requirements.is_hidden,
            seconds=submission.seconds,
            criterion=verdict.criterion,
            needs_reason=False,
        )
        for verdict in submission.verdicts
    ]
    evaluations = evaluate_each(result, human_verdicts, requirements.points, by=by)
    result.refresh_from_db(fields=("score", "passed", "is_overridden", "is_disputed", "is_judged"))
    return evaluations


def _has_whole(assignment: Assignment, by: User) -> bool:
    rows = HumanEvaluation.objects.filter(
        result=assignment.item.result_id, annotator=by, criterion__key=WHOLE_TEST
    )
    active = active_evaluations(rows.order_by("pk"))
    return any(row.kind == EvaluationKind.EVALUATION for row in active)


def withdraw_of(assignment: Assignment, by: User, reason: str) -> None:
    """Withdraw the active evaluations of an assignment.

    Raises:
        ValidationError: A later evaluation, made on the result page, replaced one of them.
    """
    if assignment.item.other_id:
        withdraw_choice(assignment, by)
        return
    result = assignment.item.result
    for evaluation in assignment.evaluations.select_related("criterion").order_by("pk"):
        about = evaluation.criterion
        mine = HumanEvaluation.objects.filter(
            result=result, criterion=about, annotator=evaluation.annotator_id
        ).order_by("pk")
        if evaluation in active_evaluations(mine):
            withdraw(result, by=by, reason=reason, criterion=about.key)
        elif evaluation not in withdrawn(mine):
            raise ValidationError(
                "You have evaluated this result again on its own page: withdraw that evaluation "
                "first."
            )


# Drafts ------------------------------------------------------------------------------------------


def save_draft(assignment: Assignment, draft: dict[str, str], *, by: User) -> bool:
    """Save the draft and extend the reservation; False if somebody else has the assignment.

    Raises:
        ValidationError: A text is too long.
    """
    check_lengths(draft)
    mine = Assignment.objects.filter(pk=assignment.pk, annotator=by, state__in=KEPT)
    if not mine.update(draft=draft):
        return False
    if assignment.queue.state == QueueState.OPEN:
        ahead = until(assignment.queue, clock.now())
        mine.filter(state=AssignmentState.RESERVED).update(reserved_until=ahead)
    return True


# Skipping ----------------------------------------------------------------------------------------


@transaction.atomic
def skip(assignment: Assignment, reason: str, *, by: User) -> Skip:
    """Leave the item to others; it is not offered to this reviewer again.

    If it was sent back to them, their evaluations are withdrawn.

    Raises:
        ValidationError: The reason is missing, or somebody else has the assignment (code "lost").
    """
    check_lengths({"reason": reason})
    if not reason.strip():
        raise ValidationError({"reason": "Enter a reason for skipping this item."})
    assignment, now = locked(assignment), clock.now()
    before = Skip.objects.filter(item=assignment.item_id, annotator=by, undone_at=None).first()
    if before is not None:
        return before
    check_holder(assignment, by)
    made = Skip.objects.create(
        item=assignment.item,
        annotator=by,
        reason=reason.strip(),
        draft=assignment.draft,
        created_at=now,
    )
    if assignment.state == AssignmentState.SENT_BACK:
        withdraw_of(assignment, by, "Skipped after it was sent back.")
        assignment.evaluations.clear()
        remember(assignment, "skipped", by, now, note=reason.strip())
    assignment.draft = {}
    clear(assignment, now)
    assignment.state = AssignmentState.OPEN
    assignment.annotator = assignment.reserved_until = None
    assignment.save()
    return made


def last_skip(queue: Queue, by: User) -> Skip | None:
    mine = Skip.objects.filter(annotator=by, item__queue=queue, undone_at=None)
    return mine.select_related("item").order_by("-created_at", "-pk").first()


@transaction.atomic
def restore(last: Skip, by: User) -> Assignment:
    """Undo a skip: the reviewer has the item again, with their draft.

    Raises:
        NoAssignment: Others have taken the item meanwhile, or the queue is closed.
    """
    assignment = take_item(last.item, by=by)
    if last.draft and not assignment.draft:
        assignment.draft = last.draft
        assignment.save(update_fields=["draft"])
    return assignment


def offer_again(skipped: Skip) -> None:
    """Offer the item again to the reviewer who skipped it."""
    Skip.objects.filter(pk=skipped.pk, undone_at=None).update(undone_at=clock.now())


# Undoing -----------------------------------------------------------------------------------------


@transaction.atomic
def reopen(assignment: Assignment, *, by: User) -> Assignment:
    """Undo one's own submission: withdraw its evaluations and restore the draft.

    Raises:
        ValidationError: The user has not submitted it, the queue is closed, or they have evaluated
            the result again since.
    """
    assignment = locked(assignment)
    if assignment.state != AssignmentState.SUBMITTED or assignment.annotator_id != by.pk:
        raise ValidationError("You have not submitted this item, so there is nothing to undo.")
    check_open(assignment)
    now = clock.now()
    withdraw_of(assignment, by, "Undone.")
    text = assignment.draft.get("correction", "").strip()
    mine = Correction.objects.filter(result=assignment.item.result_id, annotator=by, text=text)
    mine.filter(promoted_at=None, undone_at=None).update(undone_at=now)
    remember(assignment, "undone", by, now, note=assignment.note)
    assignment.submitted_at = None
    if assignment.sent_back_note:
        assignment.state = AssignmentState.SENT_BACK
    else:
        assignment.state = AssignmentState.RESERVED
        assignment.reserved_until = until(assignment.queue, now)
    assignment.save()
    assignment.evaluations.clear()
    return assignment


def undo(queue: Queue, *, by: User) -> Assignment | None:
    """Undo the reviewer's last submission or skip in the queue; None if there is none.

    They have the assignment again, with its draft. Assignments reserved for them since, without
    input, are released.

    Raises:
        ValidationError: See `reopen`.
        NoAssignment: See `restore`.
    """
    mine = Assignment.objects.filter(queue=queue, annotator=by, state=AssignmentState.SUBMITTED)
    assignment = mine.order_by("-submitted_at", "-pk").first()
    skipped = last_skip(queue, by)
    if skipped is not None and (
        assignment is None
        or assignment.submitted_at is None
        or skipped.created_at > assignment.submitted_at
    ):
        back = restore(skipped, by)
    elif assignment is not None:
        back = reopen(assignment, by=by)
    else:
        return None
    rows = Assignment.objects.filter(queue=queue, annotator=by, state=AssignmentState.RESERVED)
    for other in rows.exclude(pk=back.pk):
        if not has_input(other.draft):
            release(other, by=by)
    return back


# Sending back ------------------------------------------------------------------------------------


@transaction.atomic
def send_back(assignment: Assignment, note: str, *, by: User) -> Assignment:
    """Ask the annotator to review again; their verdict stays active until they resubmit.

    Raises:
        ValidationError: The note is missing, nothing was submitted, or the queue is closed.
    """
    if not note.strip():
        raise ValidationError({"note": "Enter a note: what should the reviewer check again?"})
    check_lengths({"note": note})
    assignment = locked(assignment)
    if assignment.state != AssignmentState.SUBMITTED:
        raise ValidationError("This assignment has no submission to send back.")
    check_open(assignment)
    remember(assignment, "sent_back", by, clock.now(), note=note.strip())
    assignment.state = AssignmentState.SENT_BACK
    assignment.sent_back_by, assignment.sent_back_note = by, note.strip()
    assignment.save()
    notify_sent_back(assignment)
    return assignment


def notify_sent_back(assignment: Assignment) -> None:
    """Notify the annotator that their review was sent back.

    The note is left out: it may quote a sealed test, which must not leave the system.
    """
    assert assignment.annotator is not None  # what was submitted has one: the database sees to it
    by = str(assignment.sent_back_by)
    event = Event(
        kind=NotificationKind.SENT_BACK,
        key=f"assignment {assignment.pk} sent back {len(assignment.past)}",
        title=f"Your review in {assignment.queue} was sent back",
        text=f"{by} asks you to review it again. It is the next item in the queue.",
        url=reverse("admin:review_queue_work", args=[assignment.queue_id]),
        facts={"queue": assignment.queue_id, "assignment": assignment.pk, "by": by},
    )
    notify(event, to=[assignment.annotator])
