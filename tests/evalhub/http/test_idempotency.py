"""A request that is sent twice is carried out once."""

import threading

import pytest
from django.db import connection

from evalhub.http.idempotency import KeyReused, carry_out_once
from evalhub.models import KeptAnswer
from issues.models import Feedback, Issue
from runs.models import Launch, Run
from tests.api import client_of, problems_in
from tests.factories import make_jury, make_model, make_test, make_user

pytestmark = pytest.mark.django_db

RUNS = "/api/v1/runs/"


def body():
    chosen = {"tests": [make_test().pk], "models": [make_model().pk]}
    return {"label": "nightly", "jury": make_jury(make_model()).pk, **chosen}


def test_a_launch_with_a_key_starts_once_and_is_answered_alike():
    client, sent = client_of("maintainer"), body()

    first, second = (client.post(RUNS, sent, headers={"Idempotency-Key": "ci-7"}) for _ in range(2))

    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    assert Launch.objects.count() == Run.objects.count() == 1


def test_keys_belong_to_a_person_and_a_request():
    client, sent = client_of("maintainer"), body()
    headers = {"Idempotency-Key": "ci-7"}
    client.post(RUNS, sent, headers=headers)

    other = client.post(RUNS, sent | {"release": "2"}, headers=headers)
    somebody = client_of("maintainer").post(RUNS, sent, headers=headers)

    assert other.status_code == 409
    assert "'ci-7' was sent before with another request" in other.json()["detail"]
    assert somebody.status_code == 201
    assert Launch.objects.count() == 2


def test_a_refusal_keeps_nothing_so_that_it_can_be_sent_again():
    client, headers = client_of("maintainer"), {"Idempotency-Key": "x"}

    refused = client.post("/api/v1/issues/", {"title": ""}, headers=headers)
    made = client.post("/api/v1/issues/", {"title": "It rounds"}, headers=headers)

    assert (refused.status_code, made.status_code) == (400, 201)
    assert Issue.objects.count() == KeptAnswer.objects.count() == 1


@pytest.mark.parametrize("key", ["k" * 201, "tab\there"])
def test_a_key_that_cannot_be_kept_is_named(key):
    response = client_of("annotator").post(
        "/api/v1/feedback/", {"comment": "x"}, headers={"Idempotency-Key": key}
    )

    assert response.status_code == 400
    assert "at most 200 printable characters" in problems_in(response)["Idempotency-Key"][0]
    assert not Feedback.objects.exists()


def test_without_a_key_each_request_counts():
    client = client_of("annotator")
    for _ in range(2):
        client.post("/api/v1/feedback/", {"comment": "Wrong."})

    assert Feedback.objects.count() == 2


def test_an_answer_is_forgotten_after_a_day():
    user = make_user("annotator")
    carry_out_once(user, "k", "a", lambda: (201, 1))
    KeptAnswer.objects.update(created_at="2026-01-01T00:00:00Z")

    assert not carry_out_once(user, "k", "b", lambda: (201, 2)).is_repeated


def test_another_request_with_its_key_is_refused():
    user = make_user("annotator")
    carry_out_once(user, "k", "a", lambda: (201, 1))

    with pytest.raises(KeyReused):
        carry_out_once(user, "k", "b", lambda: (201, 2))


@pytest.mark.django_db(transaction=True)
def test_sent_by_many_at_once_it_is_carried_out_once():
    user, done, answers = make_user("annotator"), [], []
    gate = threading.Barrier(4)

    def act():
        Issue.objects.create(title="Made")
        done.append(1)
        return 201, {"made": True}

    def send():
        gate.wait()
        answers.append(carry_out_once(user, "k", "a", act))
        connection.close()

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert Issue.objects.count() == 1
    assert [answer.body for answer in answers] == [{"made": True}] * 4
    assert sum(answer.is_repeated for answer in answers) == 3
