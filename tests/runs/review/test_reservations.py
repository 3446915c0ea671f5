import pytest
from django.utils import timezone

from runs.review.assignment_actions import save_draft, send_back, skip
from runs.review.models import Assignment, AssignmentState, Queue, QueueState, Skip
from runs.review.reservations import NoAssignment, release, renew, take, take_item
from tests.factories import make_user
from tests.runs.review.rows import expire, filled, review

pytestmark = pytest.mark.django_db


def test_first_item_comes_first(ann):
    queue = filled(2)

    assignment = take(queue, by=ann)

    assert assignment.item == queue.items.get(position=1)
    assert (assignment.state, assignment.annotator) == (AssignmentState.RESERVED, ann)
    assert 29 * 60 < (assignment.reserved_until - timezone.now()).total_seconds() < 31 * 60


def test_two_people_never_get_the_same_place_and_each_keeps_it(ann, bob):
    queue = filled(2)
    mine = take(queue, by=ann)

    assert mine.item != take(queue, by=bob).item
    assert take(queue, by=ann) == mine


def test_two_reviewers_of_an_item_are_two_people(ann, bob):
    queue = filled(1, reviewers=2)

    first, second = take(queue, by=ann), take(queue, by=bob)
    assert (first.item, first.number, second.number) == (second.item, 1, 2)

    review(first)
    assert take(queue, by=ann) is None


def test_an_expired_reservation_is_anybodys_before_open_ones_and_without_its_draft(ann, bob):
    queue = filled(3)
    left = take(queue, by=ann)
    save_draft(left, {"note": "half a thought"}, by=ann)
    expire(left)

    taken = take(queue, by=bob)

    assert (taken, taken.annotator, taken.draft) == (left, bob, {})
    assert taken.past[0]["what"] == "left"
    assert taken.past[0]["draft"] == {"note": "half a thought"}


def test_expired_reservation_stays_ones_own_while_nobody_takes_it(ann):
    queue = filled(2)
    left = take(queue, by=ann)
    save_draft(left, {"note": "half a thought"}, by=ann)
    expire(left)

    again = take(queue, by=ann)

    assert (again, again.draft) == (left, {"note": "half a thought"})
    assert again.reserved_until > timezone.now()


def test_sent_back_is_ones_own_after_the_current_and_before_free_ones(ann, bob):
    queue = filled(3)
    assignment = take(queue, by=ann)
    review(assignment)
    at = take(queue, by=ann)
    send_back(assignment, "Look at the second line.", by=bob)

    assert take(queue, by=bob).item == queue.items.get(position=3)
    assert take(queue, by=ann) == at
    review(at)
    assert take(queue, by=ann) == assignment


def test_closed_queue_gives_nothing(ann):
    queue = filled(1)
    item = queue.items.get()
    Queue.objects.update(state=QueueState.CLOSED)

    assert take(queue, by=ann) is None
    with pytest.raises(NoAssignment, match="is closed"):
        take_item(item, by=ann)


def test_sealed_tests_are_offered_only_to_their_readers():
    queue = filled(2)
    reader = make_user("viewer")
    test = queue.items.get(position=1).result.test
    type(test).objects.filter(pk=test.pk).update(sealed=True)

    assert take(queue, by=reader).item == queue.items.get(position=2)
    with pytest.raises(NoAssignment, match="may not read"):
        take_item(queue.items.get(position=1), by=reader)


# A certain item ----------------------------------------------------------------------------------


def test_certain_item_is_reserved(ann):
    queue = filled(3)
    item = queue.items.get(position=3)

    assignment = take_item(item, by=ann)

    assert (assignment.item, assignment.annotator, assignment.state) == (
        item,
        ann,
        AssignmentState.RESERVED,
    )


def test_an_item_that_another_holds_is_neither_offered_nor_given(ann, bob):
    queue = filled(1)
    take(queue, by=ann)

    assert take(queue, by=bob) is None
    with pytest.raises(NoAssignment, match="Somebody else is reviewing"):
        take_item(queue.items.get(), by=bob)


def test_certain_item_that_one_has_reviewed_is_refused(ann):
    queue = filled(1, reviewers=2)
    review(take(queue, by=ann))

    with pytest.raises(NoAssignment, match="undo to change"):
        take_item(queue.items.get(), by=ann)


def test_opening_a_skipped_item_takes_the_skip_back(ann):
    queue = filled(1)
    skip(take(queue, by=ann), "Not my field.", by=ann)
    assert take(queue, by=ann) is None

    take_item(queue.items.get(), by=ann)

    assert Skip.objects.get().undone_at is not None


# Keeping and giving back -------------------------------------------------------------------------


def test_renewing_prolongs(ann):
    queue = filled(1)
    assignment = take(queue, by=ann)
    expire(assignment)

    assert renew(assignment, by=ann)
    assert Assignment.objects.get().reserved_until > timezone.now()


def test_renewing_an_assignment_of_another_fails(ann, bob):
    queue = filled(1)
    assignment = take(queue, by=ann)
    expire(assignment)
    take(queue, by=bob)

    assert not renew(assignment, by=ann)
    assert not save_draft(assignment, {"note": "mine"}, by=ann)
    assert Assignment.objects.get().draft == {}


def test_renewing_in_a_closed_queue_fails(ann):
    queue = filled(1)
    assignment = take(queue, by=ann)
    Queue.objects.update(state=QueueState.CLOSED)

    assert not renew(assignment, by=ann)


def test_released_place_is_open(ann, bob):
    queue = filled(1)
    release(take(queue, by=ann), by=ann)

    assert Assignment.objects.get().state == AssignmentState.OPEN
    assert take(queue, by=bob) is not None


def test_released_draft_waits_for_its_author(ann, bob):
    queue = filled(1)
    assignment = take(queue, by=ann)
    save_draft(assignment, {"note": "half a thought", "seconds": "12"}, by=ann)
    release(assignment, by=ann)

    assert take(queue, by=ann).draft["note"] == "half a thought"
    release(assignment, by=ann)
    assert take(queue, by=bob).annotator == bob


def test_nobody_releases_anothers_place(ann, bob):
    queue = filled(1)
    assignment = take(queue, by=ann)

    release(assignment, by=bob)

    assert Assignment.objects.get().annotator == ann
