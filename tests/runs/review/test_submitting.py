import pytest
from django.core.exceptions import ValidationError

from evalhub.models import Notice
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation
from runs.review.models import Correction, Place, PlaceState, Queue, QueueState, Skip
from runs.review.submitting import (
    Sheet,
    reopen,
    save_draft,
    send_back,
    skip,
    submit,
    take_back_skip,
    undo,
)
from runs.review.taking import NoPlace, take, take_item
from tests.factories import make_user
from tests.runs.review.rows import FAILS, PASSES, expire, filled, review, sheet

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann():
    return make_user("annotator", username="ann")


@pytest.fixture
def bob():
    return make_user("annotator", username="bob")


def test_submission_records_the_verdict_and_scores_the_result(ann):
    queue = filled(1)

    submitted = submit(take(queue, by=ann), sheet(FAILS, "It is 5.", seconds=12), by=ann)

    evaluation = HumanEvaluation.objects.get()
    assert (evaluation.value, evaluation.justification) == (0.0, "It is 5.")
    assert (evaluation.chosen_by, evaluation.seconds) == (ChosenBy.QUEUE_SELECTED, 12)
    assert submitted.result.passed is False
    place = Place.objects.get()
    assert (place.state, place.seconds) == (PlaceState.SUBMITTED, 12)
    assert list(place.evaluations.all()) == [evaluation]


def test_item_drawn_at_random_is_recorded_as_such(ann):
    queue = filled(1, is_random=True, blind="random")

    review(take(queue, by=ann))

    evaluation = HumanEvaluation.objects.get()
    assert (evaluation.chosen_by, evaluation.blind) == (ChosenBy.QUEUE_RANDOM, True)


@pytest.mark.parametrize(("option", "agrees"), [(PASSES, True), (FAILS, False)])
def test_reviewer_is_told_whether_the_judges_agree(ann, option, agrees):
    assert review(take(filled(1), by=ann), option).agrees is agrees


def test_second_submission_does_nothing(ann):
    queue = filled(1)
    place = take(queue, by=ann)
    review(place)

    again = submit(place, sheet(FAILS, "Other."), by=ann)

    assert not again.is_new
    assert HumanEvaluation.objects.count() == 1


def test_note_and_correction_are_kept(ann):
    queue = filled(1)

    submit(take(queue, by=ann), sheet(note="See issue 3.", correction="It is 4."), by=ann)

    assert Place.objects.get().note == "See issue 3."
    assert Correction.objects.get().text == "It is 4."


# When it is refused ------------------------------------------------------------------------------


def problems(place, given):
    with pytest.raises(ValidationError) as caught:
        submit(place, given, by=place.annotator)
    assert not HumanEvaluation.objects.exists()
    return caught.value.message_dict


def test_nothing_chosen_is_refused(ann):
    assert problems(take(filled(1), by=ann), Sheet(())) == {"option": ["Choose one."]}


def test_option_off_the_scale_is_refused(ann):
    told = problems(take(filled(1), by=ann), sheet("5"))
    assert told == {"option": ["'5' is not one of 0, 1."]}


def test_overriding_the_judges_needs_a_reason(ann):
    told = problems(take(filled(1), by=ann), sheet(FAILS))
    assert told == {"justification": ["The judges say otherwise: say in a sentence why."]}


def test_agreeing_with_the_judges_needs_no_reason(ann):
    submit(take(filled(1), by=ann), sheet(PASSES), by=ann)

    assert HumanEvaluation.objects.get().justification == ""


def test_blind_verdict_needs_no_reason(ann):
    submit(take(filled(1, blind="all"), by=ann), sheet(FAILS), by=ann)

    assert HumanEvaluation.objects.get().blind


def test_queue_may_always_want_a_reason(ann):
    told = problems(take(filled(1, reasoning="always", blind="all"), by=ann), sheet(PASSES))
    assert told == {"justification": ["Say in a sentence why."]}


def test_too_long_a_note_is_refused(ann):
    told = problems(take(filled(1), by=ann), sheet(note="x" * 100_001))
    assert list(told) == ["note"]


def test_place_that_another_took_is_lost(ann, bob):
    queue = filled(1)
    place = take(queue, by=ann)
    expire(place)
    take(queue, by=bob)

    with pytest.raises(ValidationError, match="somebody else reviews it") as caught:
        submit(place, sheet(), by=ann)
    assert caught.value.code == "lost"


def test_expired_place_that_nobody_took_is_submitted(ann):
    place = take(filled(1), by=ann)
    expire(place)

    assert review(place).is_new


def test_closed_queue_takes_nothing(ann):
    place = take(filled(1), by=ann)
    Queue.objects.update(state=QueueState.CLOSED)

    with pytest.raises(ValidationError, match="is closed"):
        submit(place, sheet(), by=ann)


# Undoing -----------------------------------------------------------------------------------------


def test_undo_withdraws_and_brings_the_draft_back(ann):
    queue = filled(1)
    place = take(queue, by=ann)
    submit(place, sheet(FAILS, "It is 5.", note="Odd."), by=ann)

    undone = undo(queue, by=ann)

    assert (undone, undone.state) == (place, PlaceState.RESERVED)
    assert undone.draft == {"option": FAILS, "justification": "It is 5.", "note": "Odd."}
    kinds = list(HumanEvaluation.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == [EvaluationKind.EVALUATION, EvaluationKind.WITHDRAWAL]
    undone.item.result.refresh_from_db()
    assert undone.item.result.passed is True  # the judges' verdict stands again


def test_undo_takes_back_the_newest_first(ann):
    queue = filled(2)
    first, second = review(take(queue, by=ann)), review(take(queue, by=ann))

    assert undo(queue, by=ann) == second.place
    assert undo(queue, by=ann) == first.place
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
    submit(take(queue, by=ann), sheet(correction="It is 4."), by=ann)

    place = undo(queue, by=ann)
    assert Correction.objects.get().taken_back_at is not None

    submit(place, sheet(correction="It is 4."), by=ann)
    assert Correction.objects.get().taken_back_at is None


def test_undo_refuses_what_was_evaluated_anew_elsewhere(ann):
    from runs.evaluating import Ballot, evaluate

    queue = filled(1)
    place = review(take(queue, by=ann)).place
    evaluate(place.item.result, Ballot(FAILS, "Later, on its page."), by=ann)

    with pytest.raises(ValidationError, match="on its own page"):
        undo(queue, by=ann)
    assert Place.objects.get().state == PlaceState.SUBMITTED


def test_what_was_undone_is_remembered(ann):
    queue = filled(1)
    submit(take(queue, by=ann), sheet(FAILS, "It is 5."), by=ann)

    submit(undo(queue, by=ann), sheet(PASSES), by=ann)

    past = Place.objects.get().past
    assert [(entry["what"], entry["by"]) for entry in past] == [("undone", "ann")]
    assert past[0]["draft"] == {"option": FAILS, "justification": "It is 5."}


def test_an_earlier_submission_can_be_reopened(ann):
    queue = filled(2)
    first = review(take(queue, by=ann)).place
    review(take(queue, by=ann))

    assert reopen(first, by=ann).state == PlaceState.RESERVED


# Skipping ----------------------------------------------------------------------------------------


def test_skipped_item_is_offered_to_others_only(ann, bob):
    queue = filled(1)
    skip(take(queue, by=ann), "Not my field.", by=ann)

    assert take(queue, by=ann) is None
    assert take(queue, by=bob) is not None


def test_skip_needs_a_reason(ann):
    place = take(filled(1), by=ann)

    with pytest.raises(ValidationError) as caught:
        skip(place, " ", by=ann)
    assert list(caught.value.message_dict) == ["reason"]


def test_skipping_twice_is_one_skip(ann):
    place = take(filled(1), by=ann)

    assert skip(place, "No.", by=ann) == skip(place, "No.", by=ann)


def test_undo_of_a_skip_brings_the_item_and_the_draft_back(ann):
    queue = filled(2)
    review(take(queue, by=ann))
    place = take(queue, by=ann)
    save_draft(place, {"note": "half"}, by=ann)
    skip(place, "Not my field.", by=ann)

    back = undo(queue, by=ann)

    assert (back, back.draft) == (place, {"note": "half"})
    assert Skip.objects.get().taken_back_at is not None


def test_skip_of_what_another_took_meanwhile_stays(ann, bob):
    queue = filled(1)
    skip(take(queue, by=ann), "Not my field.", by=ann)
    take(queue, by=bob)

    with pytest.raises(NoPlace):
        take_back_skip(queue, by=ann)
    assert Skip.objects.get().taken_back_at is None


def test_undo_lets_others_have_what_was_given_since(ann, bob):
    queue = filled(2)
    skipped = take(queue, by=ann)
    skip(skipped, "Not now.", by=ann)
    given = take(queue, by=ann)
    undo(queue, by=ann)

    assert take(queue, by=bob) == given


def test_undo_keeps_what_something_was_typed_into(ann, bob):
    queue = filled(2)
    review(take(queue, by=ann), FAILS)
    save_draft(take(queue, by=ann), {"justification": "Half a sentence"}, by=ann)
    undo(queue, by=ann)

    assert take(queue, by=bob) is None


# Sending back ------------------------------------------------------------------------------------


def test_sent_back_review_stands_until_it_is_replaced(ann, bob):
    queue = filled(1)
    first = review(take(queue, by=ann), FAILS).place
    send_back(first, "Read the reference.", by=bob)

    place = take(queue, by=ann)
    assert place is not None
    assert (place.state, place.sent_back_note) == (PlaceState.SENT_BACK, "Read the reference.")
    assert place.item.result.passed is False

    assert review(place, PASSES).result.passed is True
    assert HumanEvaluation.objects.count() == 2


def test_its_annotator_is_told_each_time_but_not_why(ann, bob):
    queue = filled(1)
    for why in ("Read the reference.", "And the guidelines."):
        send_back(review(take(queue, by=ann), FAILS).place, why, by=bob)
    told = Notice.objects.filter(recipient=ann)

    assert told.count() == 2
    assert all(f"/queue/{queue.pk}/work/" in notice.url for notice in told)
    assert not any("Read" in notice.text for notice in told)


def test_undo_after_it_was_sent_back_leaves_it_sent_back(ann, bob):
    queue = filled(1)
    first = review(take(queue, by=ann), FAILS).place
    send_back(first, "Read the reference.", by=bob)
    review(take(queue, by=ann), PASSES)

    place = undo(queue, by=ann)

    assert place is not None
    assert place.state == PlaceState.SENT_BACK
    place.item.result.refresh_from_db()
    assert place.item.result.passed is False


def test_skipping_what_was_sent_back_withdraws_it(ann, bob):
    queue = filled(1)
    place = review(take(queue, by=ann), FAILS).place
    send_back(place, "Read the reference.", by=bob)

    skip(place, "I cannot say more.", by=ann)

    place = take_item(place.item, by=bob)
    assert (place.draft, place.sent_back_note) == ({}, "")
    assert place.item.result.passed is True  # the judges' verdict stands again


def test_sending_back_needs_a_note_and_a_submission(ann, bob):
    place = take(filled(1), by=ann)

    with pytest.raises(ValidationError, match="Nothing is submitted"):
        send_back(place, "Look.", by=bob)
    with pytest.raises(ValidationError, match="Say what"):
        send_back(place, "", by=bob)


def test_every_sending_back_is_remembered(ann, bob):
    queue = filled(1)
    place = review(take(queue, by=ann)).place
    for note in ("First.", "Second."):
        send_back(place, note, by=bob)
        review(take(queue, by=ann))

    assert [entry["note"] for entry in Place.objects.get().past] == ["First.", "Second."]
