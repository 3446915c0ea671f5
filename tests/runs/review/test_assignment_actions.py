import pytest
from django.core.exceptions import ValidationError

from evalhub.models import Notification
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation
from runs.review.assignment_actions import reopen, save_draft, send_back, skip, submit, undo
from runs.review.models import Assignment, AssignmentState, Correction, Queue, QueueState, Skip
from runs.review.reservations import NoAssignment, take, take_item
from runs.review.review_draft import ReviewSubmission
from tests.runs.review.rows import FAILS, PASSES, expire, filled, review, submission

pytestmark = pytest.mark.django_db


def test_submission_records_the_verdict_and_scores_the_result(ann):
    queue = filled(1)
    given = submission(FAILS, "It is 5.", seconds=12, note="See issue 3.", correction="It is 4.")

    submitted = submit(take(queue, by=ann), given, by=ann)

    evaluation = HumanEvaluation.objects.get()
    assert (evaluation.value, evaluation.justification) == (0.0, "It is 5.")
    assert (evaluation.chosen_by, evaluation.seconds) == (ChosenBy.QUEUE_SELECTED, 12)
    assert submitted.assignment.item.result.passed is False
    assert submitted.agrees is False
    assignment = Assignment.objects.get()
    assert (assignment.state, assignment.seconds) == (AssignmentState.SUBMITTED, 12)
    assert list(assignment.evaluations.all()) == [evaluation]
    assert (assignment.note, Correction.objects.get().text) == ("See issue 3.", "It is 4.")


def test_item_drawn_at_random_is_recorded_as_such(ann):
    queue = filled(1, is_random=True, blind="random")

    review(take(queue, by=ann))

    evaluation = HumanEvaluation.objects.get()
    assert (evaluation.chosen_by, evaluation.blind) == (ChosenBy.QUEUE_RANDOM, True)


def test_second_submission_does_nothing_and_another_is_refused(ann):
    assignment = take(filled(1), by=ann)
    assert review(assignment).agrees is True

    again = submit(assignment, submission(PASSES, "As asked.", seconds=3), by=ann)
    with pytest.raises(ValidationError, match="another verdict"):
        submit(assignment, submission(FAILS, "Other."), by=ann)

    assert not again.is_new
    assert HumanEvaluation.objects.count() == 1


# When it is refused ------------------------------------------------------------------------------


def test_a_refused_submission_says_why_and_saves_nothing(ann, subtests):
    queue = filled(1)
    assignment = take(queue, by=ann)

    def refused(said, given, **settings):
        Queue.objects.update(**settings, state=QueueState.OPEN)
        mine = Assignment.objects.get(pk=assignment.pk)
        with subtests.test(said), pytest.raises(ValidationError) as caught:
            submit(mine, given, by=ann)
        assert [f"{name}: {text}" for name, (text,) in caught.value.message_dict.items()] == [said]
        assert not HumanEvaluation.objects.exists()

    refused("option: Choose a verdict.", ReviewSubmission(()))
    refused("option: '5' is not one of 0, 1.", submission("5"))
    why = "justification: Enter a reason"
    refused(f"{why} for overriding the judges.", submission(FAILS))
    refused(f"{why}.", submission(PASSES), reasoning="always", blind="all")
    note = "note: 100,001 characters are too long: write at most 100,000."
    refused(note, submission(PASSES, "Yes.", note="x" * 100_001))


@pytest.mark.parametrize(("blind", "option"), [("all", FAILS), ("none", PASSES)])
def test_a_blind_verdict_or_one_that_agrees_needs_no_reason(ann, blind, option):
    submit(take(filled(1, blind=blind), by=ann), submission(option), by=ann)

    evaluation = HumanEvaluation.objects.get()
    assert (evaluation.justification, evaluation.blind) == ("", blind == "all")


def test_place_that_another_took_or_of_a_closed_queue_is_lost(ann, bob):
    queue = filled(1)
    assignment = take(queue, by=ann)
    expire(assignment)
    theirs = take(queue, by=bob)

    with pytest.raises(ValidationError, match="somebody took this item") as caught:
        submit(assignment, submission(), by=ann)
    assert caught.value.code == "lost"
    Queue.objects.update(state=QueueState.CLOSED)
    with pytest.raises(ValidationError, match="is closed"):
        submit(Assignment.objects.get(pk=theirs.pk), submission(), by=bob)


def test_expired_place_that_nobody_took_is_submitted(ann):
    assignment = take(filled(1), by=ann)
    expire(assignment)

    assert review(assignment).is_new


# Undoing -----------------------------------------------------------------------------------------


def test_undo_withdraws_and_brings_the_draft_back(ann):
    queue = filled(1)
    assignment = take(queue, by=ann)
    given = submission(FAILS, "It is 5.", note="Odd.", correction="It is 4.")
    submit(assignment, given, by=ann)

    undone = undo(queue, by=ann)

    assert (undone, undone.state) == (assignment, AssignmentState.RESERVED)
    draft = {"option": FAILS, "justification": "It is 5.", "note": "Odd."}
    assert undone.draft == draft | {"correction": "It is 4."}
    kinds = list(HumanEvaluation.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == [EvaluationKind.EVALUATION, EvaluationKind.WITHDRAWAL]
    undone.item.result.refresh_from_db()
    assert undone.item.result.passed is True  # the judges' verdict stands again
    assert Correction.objects.get().undone_at is not None

    submit(undone, submission(correction="It is 4."), by=ann)
    assert Correction.objects.get().undone_at is None
    (past,) = Assignment.objects.get().past
    assert (past["what"], past["by"], past["draft"]) == ("undone", "ann", undone.draft)


def test_undo_takes_back_ones_own_newest_first(ann, bob):
    queue = filled(2)
    first, second = (review(take(queue, by=ann)).assignment for _ in range(2))

    assert undo(queue, by=bob) is None
    assert reopen(first, by=ann).state == AssignmentState.RESERVED
    review(first)
    assert undo(queue, by=ann) == first
    assert undo(queue, by=ann) == second
    assert undo(queue, by=ann) is None


def test_undone_review_is_not_blind_any_more(ann):
    queue = filled(1, blind="all")
    review(take(queue, by=ann))

    review(undo(queue, by=ann), FAILS, "On second thoughts.")

    newest = HumanEvaluation.objects.latest("pk")
    assert (newest.value, newest.blind) == (0.0, False)


def test_undo_refuses_results_evaluated_again_elsewhere(ann):
    from runs.scoring.human_evaluation import HumanVerdict, evaluate

    queue = filled(1)
    assignment = review(take(queue, by=ann)).assignment
    evaluate(assignment.item.result, HumanVerdict(FAILS, "Later, on its page."), by=ann)

    with pytest.raises(ValidationError, match="on its own page"):
        undo(queue, by=ann)
    assert Assignment.objects.get().state == AssignmentState.SUBMITTED


# Skipping ----------------------------------------------------------------------------------------


def test_skipped_item_is_offered_to_others_only(ann, bob):
    queue = filled(1)
    assignment = take(queue, by=ann)
    with pytest.raises(ValidationError) as caught:
        skip(assignment, " ", by=ann)
    assert list(caught.value.message_dict) == ["reason"]
    skipped = skip(assignment, "Not my field.", by=ann)
    assert skip(assignment, "Not my field.", by=ann) == skipped  # twice is one skip

    assert take(queue, by=ann) is None
    assert take(queue, by=bob) is not None
    with pytest.raises(NoAssignment):
        undo(queue, by=ann)
    assert Skip.objects.get().undone_at is None


def test_undo_of_a_skip_brings_the_item_and_the_draft_back(ann):
    queue = filled(2)
    review(take(queue, by=ann))
    assignment = take(queue, by=ann)
    save_draft(assignment, {"note": "half"}, by=ann)
    skip(assignment, "Not my field.", by=ann)

    back = undo(queue, by=ann)

    assert (back, back.draft) == (assignment, {"note": "half"})
    assert Skip.objects.get().undone_at is not None


def test_undo_releases_assignments_reserved_since_that_have_no_input(ann, bob):
    queue = filled(2)
    skip(take(queue, by=ann), "Not now.", by=ann)
    given = take(queue, by=ann)
    undo(queue, by=ann)
    assert take(queue, by=bob) == given

    other = filled(2)
    review(take(other, by=ann), FAILS)
    save_draft(take(other, by=ann), {"justification": "Half a sentence"}, by=ann)
    undo(other, by=ann)
    assert take(other, by=bob) is None


# Sending back ------------------------------------------------------------------------------------


def test_sent_back_review_counts_until_it_is_replaced(ann, bob):
    queue = filled(1)
    first = review(take(queue, by=ann), FAILS).assignment
    send_back(first, "Read the reference.", by=bob)

    assignment = take(queue, by=ann)
    assert assignment is not None
    assert (assignment.state, assignment.sent_back_note) == (
        AssignmentState.SENT_BACK,
        "Read the reference.",
    )
    assert assignment.item.result.passed is False

    assert review(assignment, PASSES).assignment.item.result.passed is True
    assert HumanEvaluation.objects.count() == 2


def test_every_sending_back_needs_a_note_and_is_told_and_remembered(ann, bob):
    queue = filled(1)
    assignment = take(queue, by=ann)
    with pytest.raises(ValidationError, match="no submission to send back"):
        send_back(assignment, "Look.", by=bob)
    with pytest.raises(ValidationError, match="Enter a note"):
        send_back(assignment, "", by=bob)
    notes = ["Read the reference.", "And the guidelines."]
    for note in notes:
        send_back(review(take(queue, by=ann), FAILS).assignment, note, by=bob)

    told = Notification.objects.filter(recipient=ann)
    assert told.count() == 2
    assert all(f"/queue/{queue.pk}/work/" in notification.url for notification in told)
    assert not any("Read" in notification.text for notification in told)
    assert [entry["note"] for entry in Assignment.objects.get().past] == notes


def test_undo_after_it_was_sent_back_leaves_it_sent_back(ann, bob):
    queue = filled(1)
    first = review(take(queue, by=ann), FAILS).assignment
    send_back(first, "Read the reference.", by=bob)
    review(take(queue, by=ann), PASSES)

    assignment = undo(queue, by=ann)

    assert assignment is not None
    assert assignment.state == AssignmentState.SENT_BACK
    assignment.item.result.refresh_from_db()
    assert assignment.item.result.passed is False


def test_skipping_a_sent_back_review_withdraws_it(ann, bob):
    queue = filled(1)
    assignment = review(take(queue, by=ann), FAILS).assignment
    send_back(assignment, "Read the reference.", by=bob)

    skip(assignment, "I cannot say more.", by=ann)

    assignment = take_item(assignment.item, by=bob)
    assert (assignment.draft, assignment.sent_back_note) == ({}, "")
    assert assignment.item.result.passed is True  # the judges' verdict stands again
