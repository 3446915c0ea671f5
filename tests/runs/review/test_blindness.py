import pytest

from runs.review.blindness import is_hidden
from runs.review.models import Assignment
from runs.review.reservations import take
from runs.review.submit import send_back, undo
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.api import client_of, problems_in
from tests.factories import make_user
from tests.runs.review.rows import FAILS, expire, filled, review

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("blind", "is_random", "hidden"),
    [
        ("none", True, False),
        ("random", True, True),
        ("random", False, False),
        ("all", True, True),
        ("all", False, True),
    ],
)
def test_blind_mode_decides_which_items_are_hidden(ann, blind, is_random, hidden):
    assert is_hidden(take(filled(1, is_random=is_random, blind=blind), by=ann)) is hidden


def test_submitting_reveals(ann):
    queue = filled(1, blind="all")

    assert not is_hidden(review(take(queue, by=ann)).assignment)


def test_place_of_nobody_is_hidden():
    filled(1, blind="all")

    assert is_hidden(Assignment.objects.get())


def test_who_has_seen_it_is_not_blind_again(ann):
    queue = filled(1, blind="all")
    assignment = review(take(queue, by=ann)).assignment
    send_back(assignment, "Look again.", by=make_user("adjudicator"))
    assert not is_hidden(take(queue, by=ann))

    review(take(queue, by=ann))
    assert not is_hidden(undo(queue, by=ann))


def test_who_evaluated_it_elsewhere_is_not_blind(ann):
    queue = filled(1, blind="all")
    evaluate(queue.items.get().result, HumanVerdict(FAILS, "On its page."), by=ann)

    assert not is_hidden(take(queue, by=ann))


def test_item_is_hidden_from_each_next_reviewer(ann):
    queue = filled(1, blind="all")
    review(take(queue, by=ann))
    expire(undo(queue, by=ann))

    assert is_hidden(take(queue, by=make_user("annotator")))


def test_the_result_s_own_page_opens_once_it_is_reviewed(client, ann):
    queue = filled(1, blind="all")
    assignment = take(queue, by=ann)
    client.force_login(ann)
    page = f"/admin/runs/result/{assignment.item.result_id}/change/"
    before = client.get(page)
    review(assignment)

    assert before.headers["Location"] == f"/admin/review/queue/{queue.pk}/work/"
    assert client.get(page).status_code == 200


@pytest.mark.parametrize("act", ["evaluate", "correct"])
def test_a_form_that_is_refused_shows_nothing_either(client, ann, act):
    queue = filled(1, blind="all")
    result = take(queue, by=ann).item.result
    result.judgments.update(justification="Because of QUILLWORT.")
    client.force_login(ann)

    response = client.post(f"/admin/runs/result/{result.pk}/{act}/", {"act": "save"}, follow=True)

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


def test_it_is_open_to_those_who_do_not_review_it(client, ann):
    assignment = take(filled(1, blind="all"), by=ann)
    client.force_login(make_user("annotator"))

    assert client.get(f"/admin/runs/result/{assignment.item.result_id}/change/").status_code == 200
