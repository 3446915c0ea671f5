"""A script that follows changes ends with the whole table, however long a write takes."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction

from evalhub.api import headers
from evalhub.values import clock
from issues.models import Feedback, Issue, Test
from runs.models import HumanEvaluation, Judgment, Result
from tests.api import client_of
from tests.factories import make_issue, make_test, make_user
from tests.issues.pages import make_feedback
from tests.runs.rubric_runs import rubric_run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_engines]


def write_one_of_each():
    run = rubric_run([{"text": "Says 4"}], {"Says 4": [1.0, 0.0]})
    result = run.results.get()
    make_feedback(issue=result.issue)
    HumanEvaluation.objects.create(
        result=result,
        criterion=result.revision.criteria.get(key=""),
        annotator=make_user("annotator"),
        value=1.0,
    )


LISTS = {
    "tests": Test,
    "issues": Issue,
    "judgments": Judgment,
    "human-evaluations": HumanEvaluation,
    "feedback": Feedback,
    "results": Result,
}


def test_rows_of_a_write_that_was_open_during_a_read_come_with_the_next(monkeypatch):
    monkeypatch.setattr(headers, "MARGIN", timedelta(0))
    monkeypatch.setattr(headers, "LOCK_WAIT_MS", 10)
    client = client_of("viewer", scope="read")
    seen: dict[str, set[int]] = {}
    since: dict[str, str] = {}
    has_written, has_read = threading.Event(), threading.Event()

    def write():
        try:
            with transaction.atomic():
                clock.now()  # PostgreSQL begins with the first statement
                write_one_of_each()
                has_written.set()
                assert has_read.wait(60)
        finally:
            connection.close()

    def read():
        for address in LISTS:
            query = {"ordering": "id"}
            if address in since:
                query["updated_since"] = since[address]
            response = client.get(f"/api/v1/{address}/", query)
            assert response.status_code == 200, response.content
            found = {row["id"] for row in response.json()["results"]}
            seen.setdefault(address, set()).update(found)
            since[address] = response["Watermark"]

    write_one_of_each()
    client.get("/api/v1/")  # notes that the token is used, which on SQLite waits for the writer
    writer = threading.Thread(target=write)
    writer.start()
    assert has_written.wait(60)
    read()
    read()
    has_read.set()
    writer.join()
    read()

    for address, model in LISTS.items():
        assert seen[address] == set(model.objects.values_list("pk", flat=True)), address


def test_what_was_read_does_not_come_again_for_ever(monkeypatch):
    monkeypatch.setattr(headers, "MARGIN", timedelta(0))
    client = client_of("viewer", scope="read")
    make_test(issue=make_issue())

    response = client.get("/api/v1/tests/export/")
    assert len(b"".join(response.streaming_content).splitlines()) == 1
    again = client.get("/api/v1/tests/", {"updated_since": response["Watermark"]})

    assert again.json()["results"] == []
    assert again["Watermark"] >= response["Watermark"]
    assert "Watermark" not in client.get("/api/v1/tests/export/?after=1")
    assert "Watermark" not in client.get("/api/v1/tests/1/")
