import pytest

from runs.models import HumanEvaluation
from runs.review.models import Assignment, Queue
from runs.review.queue_items import add_run
from tests.api import client_of, ids, problems_in
from tests.factories import make_user
from tests.reports.judged_runs import judged
from tests.runs.review.rows import FAILS, PASSES, expire, filled, make_queue, put

pytestmark = pytest.mark.django_db

QUEUES, ITEMS, ASSIGNMENTS = "/api/v1/queues/", "/api/v1/review-items/", "/api/v1/assignments/"
AGREE, SPLIT = (1.0, 1.0, 1.0), (1.0, 1.0, 0.0)


@pytest.fixture
def script(ann):
    return client_of(ann)


@pytest.fixture
def chief():
    return client_of("maintainer")


def taken(script, queue):
    response = script.post(f"{QUEUES}{queue.pk}/take/")
    assert response.status_code == 200, response.content
    return response.json()


def submission(option=PASSES, **fields):
    return {"verdicts": [{"option": option, "justification": "As asked."}], **fields}


def act(script, assignment, name, body=None):
    return script.post(f"{ASSIGNMENTS}{assignment['id']}/{name}/", body or {}, format="json")


# Queues ------------------------------------------------------------------------------------------


def test_a_queue_is_made_and_filled(chief):
    run = judged(AGREE, SPLIT)
    body = {"name": "Release 5", "random_share": 0, "reviewers": 2}
    made = chief.post(QUEUES, body, format="json")
    assert made.status_code == 201, made.content

    address = f"{QUEUES}{made.json()['id']}/add_run/"
    first, again = (chief.post(address, {"run": run.pk}, format="json") for _ in range(2))

    assert first.json() == {"added": 1, "random": 0, "already": 0}
    assert again.json() == {"added": 0, "random": 0, "already": 1}
    assert Assignment.objects.count() == 2


def test_raising_the_reviewers_makes_places(chief):
    queue = filled(2)

    response = chief.patch(f"{QUEUES}{queue.pk}/", {"reviewers": 3}, format="json")

    assert response.status_code == 200, response.content
    assert Assignment.objects.count() == 6


def test_closed_queue_refuses_a_run(chief):
    queue = make_queue(state="closed")

    response = chief.post(f"{QUEUES}{queue.pk}/add_run/", {"run": judged(SPLIT).pk})

    assert response.status_code == 400
    assert "is closed" in problems_in(response)[""][0]


def test_share_outside_its_range_is_refused(chief):
    response = chief.post(QUEUES, {"name": "q", "random_share": 2}, format="json")

    assert response.status_code == 400
    assert "random_share" in problems_in(response)


def test_progress(script):
    queue = filled(3)
    taken(script, queue)

    found = script.get(f"{QUEUES}{queue.pk}/progress/").json()

    assert (found["items"], found["reserved"], found["open"]) == (3, 1, 2)


# A review ----------------------------------------------------------------------------------------


def test_a_review_by_script(script, ann):
    queue = filled(1)
    assignment = taken(script, queue)
    assert assignment["points"] == [{"key": "", "text": "", "options": ["0", "1"]}]
    assert (assignment["scope"], assignment["is_hidden"], assignment["annotator"]) == (
        "whole",
        False,
        "ann",
    )

    response = act(script, assignment, "submit", submission(FAILS, seconds=9))

    assert response.status_code == 200, response.content
    description = response.json()
    assert (description["assignment"]["state"], description["agrees"], description["is_new"]) == (
        "submitted",
        False,
        True,
    )
    assert HumanEvaluation.objects.get().seconds == 9
    assert script.post(f"{QUEUES}{queue.pk}/take/").status_code == 204


def test_problems_are_reported_by_field(script):
    assignment = taken(script, filled(1))

    response = act(script, assignment, "submit", submission("9"))

    assert response.status_code == 400
    assert problems_in(response) == {"option": ["'9' is not one of 0, 1."]}


def test_place_of_another_is_a_conflict(script):
    queue = filled(1)
    assignment = taken(script, queue)
    expire(Assignment.objects.get())
    taken(client_of("annotator"), queue)

    assert act(script, assignment, "submit", submission()).status_code == 409


def test_skip_and_undo(script):
    queue = filled(1)
    assignment = taken(script, queue)

    assert act(script, assignment, "skip", {"reason": "Not my field."}).json()["state"] == "open"
    assert script.post(f"{QUEUES}{queue.pk}/take/").status_code == 204
    assert script.post(f"{QUEUES}{queue.pk}/undo/").json()["id"] == assignment["id"]
    assert script.post(f"{QUEUES}{queue.pk}/undo/").status_code == 204


def test_release(script):
    assignment = taken(script, filled(1))

    assert act(script, assignment, "release").json()["state"] == "open"


def test_sending_back(script):
    assignment = taken(script, filled(1))
    act(script, assignment, "submit", submission())

    sent = act(client_of("adjudicator"), assignment, "send_back", {"note": "Look again."})

    assert sent.json()["state"] == "sent_back"
    assert sent.json()["sent_back_note"] == ""  # told to whose it is
    assert script.get(f"{ASSIGNMENTS}{assignment['id']}/").json()["sent_back_note"] == "Look again."


def test_drafts_are_shown_to_nobody_else(script):
    assignment = taken(script, filled(1))
    Assignment.objects.update(draft={"note": "half a thought"}, note="A note.")

    mine = script.get(f"{ASSIGNMENTS}{assignment['id']}/").json()
    others = client_of("admin").get(f"{ASSIGNMENTS}{assignment['id']}/").json()

    assert (mine["draft"], mine["note"]) == ({"note": "half a thought"}, "A note.")
    assert (others["draft"], others["note"]) == ({}, "")


# Lists -------------------------------------------------------------------------------------------


def test_items_by_reason_and_state(script):
    queue = make_queue(random_share=0)
    add_run(queue, judged(SPLIT, (1.0, 1.0, None)))
    split, missing = queue.items.all()

    assert ids(script.get(f"{ITEMS}?reason=judges_disagree")) == [split.pk]
    assert ids(script.get(f"{ITEMS}?reason=judge_failed&state=open")) == [missing.pk]
    assert ids(script.get(f"{ITEMS}?reason=random")) == []
    description = script.get(f"{ITEMS}{split.pk}/").json()
    assert description["reasons"][0]["description"] == "Two judges pass it, one fails it"
    assert description["states"] == ["open"]


def test_reasons_are_hidden_from_who_reviews_blind(script, chief):
    queue = make_queue(random_share=0, blind="all")
    add_run(queue, judged(SPLIT))
    item = queue.items.get()

    assert script.get(f"{ITEMS}{item.pk}/").json()["reasons"] is None
    assert chief.get(f"{ITEMS}{item.pk}/").json()["reasons"] != []
    asked = f"{ITEMS}?reason=judges_disagree"
    assert (ids(script.get(asked)), ids(chief.get(asked))) == ([], [item.pk])

    act(script, taken(script, queue), "submit", submission())
    assert script.get(f"{ITEMS}{item.pk}/").json()["reasons"] != []


def test_items_of_sealed_tests_need_the_right_to_read_them():
    from django.contrib.auth.models import Permission

    queue = filled(1)
    test = queue.items.get().result.test
    type(test).objects.filter(pk=test.pk).update(sealed=True)
    reader = make_user()
    rights = ("view_reviewitem", "view_assignment", "view_queue", "review_results")
    reader.user_permissions.set(Permission.objects.filter(codename__in=rights))
    script = client_of(reader)

    assert ids(script.get(ITEMS)) == ids(script.get(ASSIGNMENTS)) == []
    assert script.post(f"{QUEUES}{queue.pk}/take/").status_code == 204


@pytest.mark.parametrize("count", [1, 9])
def test_queries_of_a_list_do_not_grow(script, count, django_assert_num_queries):
    put(make_queue(), *judged(*[AGREE] * count).results.all())
    script.get(ITEMS)

    with django_assert_num_queries(5):
        assert len(ids(script.get(ITEMS))) == count


def test_only_maintainers_make_queues(script):
    assert script.post(QUEUES, {"name": "q"}, format="json").status_code == 403
    assert not Queue.objects.exists()
