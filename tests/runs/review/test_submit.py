import pytest
from django.core.exceptions import ValidationError

from evalhub.models import Notification
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation
from runs.review.models import Assignment, AssignmentState, Correction, Queue, QueueState, Skip
from runs.review.reservations import NoAssignment, take, take_item
from runs.review.skips import skip
from runs.review.submission import ReviewSubmission
from runs.review.submit import (
    reopen,
    save_draft,
    send_back,
    submit,
    undo,
)
from tests.runs.review.rows import FAILS, PASSES, expire, filled, review, submission

pytestmark = pytest.mark.django_db


def test_submission_records_the_verdict_and_scores_the_result(ann):
    queue = filled(1)

    submitted = submit(take(queue, by=ann), submission(FAILS, "It is 5.", seconds=12), by=ann)

    evaluation = HumanEvaluation.objects.get()
    assert (evaluation.value, evaluation.justification) == (0.0, "It is 5.")
    assert (evaluation.chosen_by, evaluation.seconds) == (ChosenBy.QUEUE_SELECTED, 12)
    assert submitted.assignment.item.result.passed is False
    assignment = Assignment.objects.get()
    assert (assignment.state, assignment.seconds) == (AssignmentState.SUBMITTED, 12)
    assert list(assignment.evaluations.all()) == [evaluation]


def test_item_drawn_at_random_is_recorded_as_such(ann):
    queue = filled(1, is_random=True, blind="random")

    review(take(queue, by=ann))

    evaluation = HumanEvaluation.objects.get()
    assert (evaluation.chosen_by, evaluation.blind) == (ChosenBy.QUEUE_RANDOM, True)


@pytest.mark.parametrize(("option", "agrees"), [(PASSES, True), (FAILS, False)])
def test_submission_reports_agreement_with_the_judges(ann, option, agrees):
    assert review(take(filled(1), by=ann), option).agrees is agrees


def test_second_submission_does_nothing_and_another_is_refused(ann):
    queue = filled(1)
    assignment = take(queue, by=ann)
    review(assignment)

    again = submit(assignment, submission(PASSES, "As asked.", seconds=3), by=ann)
    with pytest.raises(ValidationError, match="another verdict"):
        submit(assignment, submission(FAILS, "Other."), by=ann)

    assert not again.is_new
    assert HumanEvaluation.objects.count() == 1


def test_note_and_correction_are_kept(ann):
    queue = filled(1)

    submit(take(queue, by=ann), submission(note="See issue 3.", correction="It is 4."), by=ann)

    assert Assignment.objects.get().note == "See issue 3."
    assert Correction.objects.get().text == "It is 4."


# When it is refused ------------------------------------------------------------------------------


def problems(assignment, given):
    with pytest.raises(ValidationError) as caught:
        submit(assignment, given, by=assignment.annotator)
    assert not HumanEvaluation.objects.exists()
    return caught.value.message_dict


def test_nothing_chosen_is_refused(ann):
    assert problems(take(filled(1), by=ann), ReviewSubmission(())) == {
        "option": ["Choose a verdict."]
    }


def test_option_off_the_scale_is_refused(ann):
    told = problems(take(filled(1), by=ann), submission("5"))
    assert told == {"option": ["'5' is not one of 0, 1."]}


def test_overriding_the_judges_needs_a_reason(ann):
    told = problems(take(filled(1), by=ann), submission(FAILS))
    assert told == {"justification": ["Enter a reason for overriding the judges."]}


def test_agreeing_with_the_judges_needs_no_reason(ann):
    submit(take(filled(1), by=ann), submission(PASSES), by=ann)

    assert HumanEvaluation.objects.get().justification == ""


def test_blind_verdict_needs_no_reason(ann):
    submit(take(filled(1, blind="all"), by=ann), submission(FAILS), by=ann)

    assert HumanEvaluation.objects.get().blind


def test_queue_may_always_want_a_reason(ann):
    told = problems(take(filled(1, reasoning="always", blind="all"), by=ann), submission(PASSES))
    assert told == {"justification": ["Enter a reason."]}


def test_too_long_a_note_is_refused(ann):
    told = problems(take(filled(1), by=ann), submission(note="x" * 100_001))
    assert list(told) == ["note"]


def test_place_that_another_took_is_lost(ann, bob):
    queue = filled(1)
    assignment = take(queue, by=ann)
    expire(assignment)
    take(queue, by=bob)

    with pytest.raises(ValidationError, match="somebody took this item") as caught:
        submit(assignment, submission(), by=ann)
    assert caught.value.code == "lost"


def test_expired_place_that_nobody_took_is_submitted(ann):
    assignment = take(filled(1), by=ann)
    expire(assignment)

    assert review(assignment).is_new


def test_closed_queue_takes_nothing(ann):
    assignment = take(filled(1), by=ann)
    Queue.objects.update(state=QueueState.CLOSED)

    with pytest.raises(ValidationError, match="is closed"):
        submit(assignment, submission(), by=ann)


# Undoing -----------------------------------------------------------------------------------------


def test_undo_withdraws_and_brings_the_draft_back(ann):
    queue = filled(1)
    assignment = take(queue, by=ann)
    submit(assignment, submission(FAILS, "It is 5.", note="Odd."), by=ann)

    undone = undo(queue, by=ann)

    assert (undone, undone.state) == (assignment, AssignmentState.RESERVED)
    assert undone.draft == {"option": FAILS, "justification": "It is 5.", "note": "Odd."}
    kinds = list(HumanEvaluation.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == [EvaluationKind.EVALUATION, EvaluationKind.WITHDRAWAL]
    undone.item.result.refresh_from_db()
    assert undone.item.result.passed is True  # the judges' verdict stands again


def test_undo_takes_back_the_newest_first(ann):
    queue = filled(2)
    first, second = review(take(queue, by=ann)), review(take(queue, by=ann))

    assert undo(queue, by=ann) == second.assignment
    assert undo(queue, by=ann) == first.assignment
    assert undo(queue, by=ann) is None


def test_undo_takes_back_nobody_elses(ann, bob):
    queue = filled(1)
    review(take(queue, by=ann))

    assert undo(queue, by=bob) is None


def test_undone_review_is_not_blind_any_more(ann):
    queue = filled(1, blind="all")
    review(take(queue, by=ann))

    review(undo(queue, by=ann), FAILS, "On second thoughts.")

    newest = HumanEvaluation.objects.latest("pk")
    assert (newest.value, newest.blind) == (0.0, False)


def test_undo_takes_the_correction_back(ann):
    queue = filled(1)
    submit(take(queue, by=ann), submission(correction="It is 4."), by=ann)

    assignment = undo(queue, by=ann)
    assert Correction.objects.get().undone_at is not None

    submit(assignment, submission(correction="It is 4."), by=ann)
    assert Correction.objects.get().undone_at is None


def test_undo_refuses_results_evaluated_again_elsewhere(ann):
    from runs.scoring.human_evaluation import HumanVerdict, evaluate

    queue = filled(1)
    assignment = review(take(queue, by=ann)).assignment
    evaluate(assignment.item.result, HumanVerdict(FAILS, "Later, on its page."), by=ann)

    with pytest.raises(ValidationError, match="on its own page"):
        undo(queue, by=ann)
    assert Assignment.objects.get().state == AssignmentState.SUBMITTED


def test_undone_submission_stays_in_the_history(ann):
    queue = filled(1)
    submit(take(queue, by=ann), submission(FAILS, "It is 5."), by=ann)

    submit(undo(queue, by=ann), submission(PASSES), by=ann)

    past = Assignment.objects.get().past
    assert [(entry["what"], entry["by"]) for entry in past] == [("undone", "ann")]
    assert past[0]["draft"] == {"option": FAILS, "justification": "It is 5."}


def test_an_earlier_submission_can_be_reopened(ann):
    queue = filled(2)
    first = review(take(queue, by=ann)).assignment
    review(take(queue, by=ann))

    assert reopen(first, by=ann).state == AssignmentState.RESERVED


# Skipping ----------------------------------------------------------------------------------------


def test_skipped_item_is_offered_to_others_only(ann, bob):
    queue = filled(1)
    skip(take(queue, by=ann), "Not my field.", by=ann)

    assert take(queue, by=ann) is None
    assert take(queue, by=bob) is not None


def test_skip_needs_a_reason(ann):
    assignment = take(filled(1), by=ann)

    with pytest.raises(ValidationError) as caught:
        skip(assignment, " ", by=ann)
    assert list(caught.value.message_dict) == ["reason"]


def test_skipping_twice_is_one_skip(ann):
    assignment = take(filled(1), by=ann)

    assert skip(assignment, "No.", by=ann) == skip(assignment, "No.", by=ann)


def test_undo_of_a_skip_brings_the_item_and_the_draft_back(ann):
    queue = filled(2)
    review(take(queue, by=ann))
    assignment = take(queue, by=ann)
    save_draft(assignment, {"note": "half"}, by=ann)
    skip(assignment, "Not my field.", by=ann)

    back = undo(queue, by=ann)

    assert (back, back.draft) == (assignment, {"note": "half"})
    assert Skip.objects.get().undone_at is not None


def test_skip_cannot_be_undone_after_another_took_the_item(ann, bob):
    queue = filled(1)
    skip(take(queue, by=ann), "Not my field.", by=ann)
    take(queue, by=bob)

    with pytest.raises(NoAssignment):
        undo(queue, by=ann)
    assert Skip.objects.get().undone_at is None


def test_undo_releases_assignments_reserved_since(ann, bob):
    queue = filled(2)
    skipped = take(queue, by=ann)
    skip(skipped, "Not now.", by=ann)
    given = take(queue, by=ann)
    undo(queue, by=ann)

    assert take(queue, by=bob) == given


def test_undo_keeps_assignments_with_input(ann, bob):
    queue = filled(2)
    review(take(queue, by=ann), FAILS)
    save_draft(take(queue, by=ann), {"justification": "Half a sentence"}, by=ann)
    undo(queue, by=ann)

    assert take(queue, by=bob) is None


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


def test_annotator_is_notified_each_time_without_the_note(ann, bob):
    queue = filled(1)
    for why in ("Read the reference.", "And the guidelines."):
        send_back(review(take(queue, by=ann), FAILS).assignment, why, by=bob)
    told = Notification.objects.filter(recipient=ann)

    assert told.count() == 2
    assert all(f"/queue/{queue.pk}/work/" in notification.url for notification in told)
    assert not any("Read" in notification.text for notification in told)


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


def test_sending_back_needs_a_note_and_a_submission(ann, bob):
    assignment = take(filled(1), by=ann)

    with pytest.raises(ValidationError, match="no submission to send back"):
        send_back(assignment, "Look.", by=bob)
    with pytest.raises(ValidationError, match="Enter a note"):
        send_back(assignment, "", by=bob)


def test_every_sending_back_is_remembered(ann, bob):
    queue = filled(1)
    assignment = review(take(queue, by=ann)).assignment
    for note in ("First.", "Second."):
        send_back(assignment, note, by=bob)
        review(take(queue, by=ann))

    assert [entry["note"] for entry in Assignment.objects.get().past] == ["First.", "Second."]
