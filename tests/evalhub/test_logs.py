"""Lines of the log: which request or work each belongs to."""

import io
import json
import logging
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from evalhub.llm import gateway
from evalhub.logs import JSONLines, WithContext, describe
from evalhub.settings.environment import Environment
from runs.models import Run
from tests.api import client_of
from tests.factories import make_run, make_test
from tests.runs.conftest import model_at, provider, work  # noqa: F401

pytestmark = pytest.mark.django_db


def line_of(record: logging.LogRecord) -> dict[str, object]:
    WithContext().filter(record)
    line: dict[str, object] = json.loads(JSONLines().format(record))
    return line


@pytest.mark.parametrize(
    ("sent", "is_kept"),
    [
        ("trace-1.a_B:c", True),
        ("", False),
        ("two words", False),
        ("a\\nb", False),
        ("x" * 65, False),
    ],
)
def test_a_well_formed_request_id_is_kept_and_answered(client, sent, is_kept):
    answered = client.get("/admin/login/", headers={"x-request-id": sent})["X-Request-ID"]
    assert (answered == sent) is is_kept
    assert len(answered) == (len(sent) if is_kept else 32)


def test_a_request_logs_one_line_without_its_search(client, caplog):
    caplog.set_level(logging.INFO, "evalhub.requests")
    user = client_of("viewer", "read")
    response = user.get("/api/v1/issues/?q=secret", headers={"x-request-id": "abc"})

    (record,) = [one for one in caplog.records if one.name == "evalhub.requests"]
    line = line_of(record)
    assert (line["path"], line["status"]) == ("/api/v1/issues/", response.status_code)
    assert line["user_id"]
    assert "secret" not in json.dumps(line)


def test_a_refusal_is_logged_with_its_request(client, caplog):
    client.get("/no/such/page/", headers={"x-request-id": "abc"})
    (record,) = [one for one in caplog.records if one.name == "django.request"]
    assert line_of(record)["request_id"] == "abc"
    client.get("/healthz")
    assert "request_id" not in line_of(logging.makeLogRecord({}))


def test_a_json_line_holds_message_context_and_traceback():
    describe(request_id="abc", work="run 12")
    try:
        raise ValueError("wrong")
    except ValueError:
        record = logging.LogRecord(
            "evalhub.work", logging.ERROR, "", 0, "Item %d failed", (3,), sys.exc_info()
        )
    line = line_of(record)
    describe()
    assert (line["message"], line["request_id"], line["work"]) == ("Item 3 failed", "abc", "run 12")
    assert "ValueError: wrong" in str(line["exception"])


def test_work_keeps_the_id_of_the_request_that_started_it(client):
    describe(request_id="launch-7")
    run = make_run(make_test())
    describe()
    assert Run.objects.get(pk=run.pk).request_id == "launch-7"


@pytest.mark.django_db(transaction=True)
def test_lines_of_workers_have_the_id_of_the_request_that_started_the_work(
    model_at,  # noqa: F811
    work,  # noqa: F811
    monkeypatch,
):
    """Two runs at once, each begun by a request of its own, in lines of a fault in each."""
    test, lines = make_test(), io.StringIO()
    monkeypatch.setattr(gateway, "complete", broken)
    for name in ("first", "second"):
        body = {"label": name, "tests": [test.pk], "models": [model_at(name=name).pk]}
        sent = client_of("superuser").post(
            "/api/v1/runs/", body, format="json", headers={"x-request-id": f"{name}-request"}
        )
        assert sent.status_code == 201, sent.content
    describe()
    handler = logging.StreamHandler(lines)
    handler.addFilter(WithContext())
    handler.setFormatter(JSONLines())
    logging.getLogger("evalhub").addHandler(handler)
    try:
        work()
    finally:
        logging.getLogger("evalhub").removeHandler(handler)

    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    ids = {run.work_key: f"{run.label}-request" for run in Run.objects.all()}
    of_work = [line for line in told if "work" in line]
    assert {line["work"] for line in of_work} == set(ids)
    assert all(line["request_id"] == ids[line["work"]] for line in of_work)


async def broken(*args, **kwargs):
    raise RuntimeError("the program is wrong")


def test_an_unknown_format_is_refused_with_those_that_exist(monkeypatch):
    monkeypatch.setenv("EVALHUB_LOG_FORMAT", "xml")
    with pytest.raises(ImproperlyConfigured, match="EVALHUB_LOG_FORMAT=xml is none of text, json"):
        Environment().choice("EVALHUB_LOG_FORMAT", ("text", "json"), "Lines.")
