import pytest

from runs.review.assignment_actions import send_back, undo
from runs.review.models import Assignment
from runs.review.requirements import is_hidden
from runs.review.reservations import take
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.api import client_of, problems_in
from tests.factories import make_user
from tests.runs.review.rows import FAILS, expire, filled, review

pytestmark = pytest.mark.django_db


def test_blind_mode_decides_which_items_are_hidden_until_submitted(ann, subtests):
    queue = filled(1)
    assert not is_hidden(take(queue, by=ann))
    for blind, is_random, hidden in (
        ("none", True, False),
        ("random", True, True),
        ("random", False, False),
        ("all", True, True),
        ("all", False, True),
    ):
        queue.items.update(is_random=is_random)
        type(queue).objects.update(blind=blind)
        with subtests.test(blind=blind, is_random=is_random):
            assert is_hidden(Assignment.objects.get()) is hidden
    assert not is_hidden(review(Assignment.objects.get()).assignment)
    Assignment.objects.update(state="open", annotator=None, reserved_until=None)
    assert is_hidden(Assignment.objects.get())


def test_who_has_seen_it_is_not_blind_again(ann):
    queue = filled(1, blind="all")
    review(take(queue, by=ann))
    again = undo(queue, by=ann)
    assert not is_hidden(again)
    expire(again)
    other = make_user("annotator")
    assert is_hidden(take(queue, by=other))
    evaluate(again.item.result, HumanVerdict(FAILS, "On its page."), by=other)
    assert not is_hidden(take(queue, by=other))
    assignment = review(take(queue, by=other)).assignment
    send_back(assignment, "Look again.", by=make_user("adjudicator"))
    assert not is_hidden(take(queue, by=other))


def test_the_results_own_page_opens_once_it_is_reviewed_and_to_others(client, ann):
    queue = filled(1, blind="all")
    assignment = take(queue, by=ann)
    page = f"/admin/runs/result/{assignment.item.result_id}/change/"
    client.force_login(make_user("annotator"))
    assert client.get(page).status_code == 200
    client.force_login(ann)
    assert client.get(page).headers["Location"] == f"/admin/review/queue/{queue.pk}/work/"
    review(assignment)
    assert client.get(page).status_code == 200


def test_a_form_that_is_refused_shows_nothing_either(client, ann):
    queue = filled(1, blind="all")
    result = take(queue, by=ann).item.result
    result.judgments.update(justification="Because of QUILLWORT.")
    client.force_login(ann)

    for act in ("evaluate", "correct"):
        url = f"/admin/runs/result/{result.pk}/{act}/"
        response = client.post(url, {"act": "save"}, follow=True)
        assert response.redirect_chain[-1][0] == f"/admin/review/queue/{queue.pk}/work/"
        assert "QUILLWORT" not in response.content.decode()
    assert not result.evaluations.exists()


def test_nobody_claims_to_have_been_blind(ann):
    result = filled(1, blind="none").items.get().result
    sent = {"result": result.pk, "option": FAILS, "justification": "Wrong."}

    refused = client_of(ann).post(
        "/api/v1/human-evaluations/", sent | {"blind": True, "seconds": 9999}
    )
    taken = client_of(ann).post("/api/v1/human-evaluations/", sent)

    assert (refused.status_code, taken.status_code) == (400, 201)
    assert problems_in(refused).keys() == {"blind", "seconds"}
    evaluation = result.evaluations.get()
    assert (evaluation.blind, evaluation.seconds) == (False, None)
