import pytest

from runs.models import HumanEvaluation
from runs.review.models import Assignment, Queue
from runs.review.queue_items import add_runs
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


def test_a_queue_is_made_filled_and_closed(chief):
    run = judged(AGREE, SPLIT)
    body = {"name": "Release 5", "random_share": 0, "reviewers": 2}
    wrong = chief.post(QUEUES, body | {"random_share": 2}, format="json")
    assert wrong.status_code == 400
    assert "random_share" in problems_in(wrong)
    made = chief.post(QUEUES, body, format="json")
    assert made.status_code == 201, made.content

    queue = f"{QUEUES}{made.json()['id']}/"
    first, again = (chief.post(f"{queue}add_run/", {"run": run.pk}) for _ in range(2))

    assert first.json() == {"added": 1, "random": 0, "already": 0}
    assert again.json() == {"added": 0, "random": 0, "already": 1}
    assert Assignment.objects.count() == 2
    assert chief.patch(queue, {"reviewers": 3}, format="json").status_code == 200
    assert Assignment.objects.count() == 3
    Queue.objects.update(state="closed")
    refused = chief.post(f"{queue}add_run/", {"run": run.pk})
    assert refused.status_code == 400
    assert "is closed" in problems_in(refused)[""][0]


# A review ----------------------------------------------------------------------------------------


def test_a_review_by_script(script, ann):
    queue = filled(1)
    assignment = taken(script, queue)
    progress = script.get(f"{QUEUES}{queue.pk}/progress/").json()
    assert (progress["items"], progress["reserved"], progress["open"]) == (1, 1, 0)
    assert assignment["points"] == [{"key": "", "text": "", "options": ["0", "1"]}]
    assert (assignment["scope"], assignment["is_hidden"], assignment["annotator"]) == (
        "whole",
        False,
        "ann",
    )

    refused = act(script, assignment, "submit", submission("9"))
    response = act(script, assignment, "submit", submission(FAILS, seconds=9))

    assert refused.status_code == 400
    assert problems_in(refused) == {"option": ["'9' is not one of 0, 1."]}
    assert response.status_code == 200, response.content
    description = response.json()
    assert (description["assignment"]["state"], description["agrees"], description["is_new"]) == (
        "submitted",
        False,
        True,
    )
    assert HumanEvaluation.objects.get().seconds == 9
    assert script.post(f"{QUEUES}{queue.pk}/take/").status_code == 204


def test_place_of_another_is_a_conflict(script):
    queue = filled(1)
    assignment = taken(script, queue)
    expire(Assignment.objects.get())
    taken(client_of("annotator"), queue)

    assert act(script, assignment, "submit", submission()).status_code == 409


def test_skip_undo_and_release(script):
    queue = filled(1)
    assignment = taken(script, queue)

    assert act(script, assignment, "skip", {"reason": "Not my field."}).json()["state"] == "open"
    assert script.post(f"{QUEUES}{queue.pk}/take/").status_code == 204
    assert script.post(f"{QUEUES}{queue.pk}/undo/").json()["id"] == assignment["id"]
    assert script.post(f"{QUEUES}{queue.pk}/undo/").status_code == 204
    assert act(script, assignment, "release").json()["state"] == "open"


def test_notes_and_drafts_are_shown_to_nobody_else(script):
    assignment = taken(script, filled(1))
    Assignment.objects.update(draft={"note": "half a thought"}, note="A note.")

    def seen_by(reader, *fields):
        found = reader.get(f"{ASSIGNMENTS}{assignment['id']}/").json()
        return tuple(found[name] for name in fields)

    assert seen_by(script, "draft", "note") == ({"note": "half a thought"}, "A note.")
    assert seen_by(client_of("admin"), "draft", "note") == ({}, "")
    act(script, assignment, "submit", submission())
    sent = act(client_of("adjudicator"), assignment, "send_back", {"note": "Look again."}).json()
    assert (sent["state"], sent["sent_back_note"]) == ("sent_back", "")
    assert seen_by(script, "sent_back_note") == ("Look again.",)


# Lists -------------------------------------------------------------------------------------------


def test_items_by_reason_and_state(script):
    queue = make_queue(random_share=0)
    add_runs(queue, judged(SPLIT, (1.0, 1.0, None)))
    split, missing = queue.items.all()

    assert ids(script.get(f"{ITEMS}?reason=judges_disagree")) == [split.pk]
    assert ids(script.get(f"{ITEMS}?reason=judge_failed&state=open")) == [missing.pk]
    assert ids(script.get(f"{ITEMS}?reason=random")) == []
    description = script.get(f"{ITEMS}{split.pk}/").json()
    assert description["reasons"][0]["description"] == "Two judges pass it, one fails it"
    assert description["states"] == ["open"]


def test_reasons_are_hidden_from_who_reviews_blind(script, chief):
    queue = make_queue(random_share=0, blind="all")
    add_runs(queue, judged(SPLIT))
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


def test_queries_of_a_list_do_not_grow(script, django_assert_num_queries):
    queue = make_queue()
    for count in (1, 9):
        put(queue, *judged(*[AGREE] * (count - queue.items.count())).results.all())
        script.get(ITEMS)
        with django_assert_num_queries(5):
            assert len(ids(script.get(ITEMS))) == count
