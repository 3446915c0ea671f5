"""The gate for continuous integration, which has a token and no database."""

from xml.etree import ElementTree

import pytest

from evalhub.models import BatchState, TokenScope
from reports.gate import api
from runs.models import Run, Suite
from tests.api import client_of, problems_in
from tests.reports.gate.suites import suite_of
from tests.reports.judged_runs import judged
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db
GATES = "/api/v1/gates/"


@pytest.fixture
def script():
    """A script whose token may only read."""
    return client_of("viewer", TokenScope.READ)


@shared_data
def april():
    """A run that fails all of six tests that its baseline passed."""
    return suite_of("pppppp", "ffffff")[1]


def ask(script, accept="", query="", **sent):
    headers = {"HTTP_ACCEPT": accept} if accept else {}
    return script.post(f"{GATES}{query}", sent, format="json", **headers)


def test_a_token_that_may_only_read_asks_the_gate(script, april):
    response = ask(script, run=april.pk)

    assert response.status_code == 200
    assert response.headers["Gate-Exit"] == "1"
    said = response.json()
    assert (said["exit"], said["run"]) == (1, april.pk)
    assert [line["rule"] for line in said["rules"]] == [
        *("scored", "baseline_scored", "comparable", "conclusion", "blind_spot_points")
    ]


def test_whoever_may_not_see_runs_may_not_ask(april):
    assert ask(client_of(""), run=april.pk).status_code == 403


def test_runs_are_named_by_id_or_label(script, april):
    for run, against in (("March", "April"), (april.pk, april.pk)):
        policy = {"blind_spot_points": None}
        assert ask(script, run=run, against=against, policy=policy).json()["exit"] == 0


def test_rules_of_the_suite_are_overridden_one_by_one(script, april):
    Suite.objects.update(gate={"min_pass_rate": 0.5})
    policy = {"conclusion": False}

    found = ask(script, run=april.pk, policy=policy).json()
    assert [line["rule"] for line in found["rules"]] == ["scored", "min_pass_rate"]
    assert found["policy"]["min_pass_rate"] == 0.5
    assert ask(script, run=april.pk, policy=policy | {"min_pass_rate": 0}).json()["exit"] == 0


def test_what_is_wrong_is_named(script, april, subtests):
    for sent, field, words in (
        ({}, "run", "required"),
        ({"run": "May"}, "run", "There is no run 'May'"),
        ({"run": "April", "against": "May"}, "against", "There is no run 'May'"),
        ({"run": "April", "policy": {"min_pass_rate": 80}}, "", "min_pass_rate"),
        ({"run": "April", "policy": {"max_loss": 1}}, "", "max_loss"),
        ({"run": "April", "wait": 3600}, "wait", "20"),
    ):
        with subtests.test(words, **sent):
            response = ask(script, **sent)
            assert response.status_code == 400
            assert words in str(problems_in(response)[field])


def test_a_label_of_several_runs_asks_for_an_id(script, april):
    judged([1], label="April")

    assert "Several runs are called" in str(problems_in(ask(script, run="April"))["run"])


def test_an_unknown_parameter_is_refused(script, april):
    assert ask(script, query="?colour=red", run=april.pk).status_code == 400


# Formats -----------------------------------------------------------------------------------------


def test_the_format_is_negotiated(script, april, subtests):
    for accept, query, kind in (
        ("", "", "application/json"),
        ("application/xml", "", "application/xml"),
        ("", "?format=junit", "application/xml"),
        ("text/markdown", "", "text/markdown"),
        ("", "?format=markdown", "text/markdown"),
    ):
        with subtests.test(accept or query):
            response = ask(script, accept, query, run=april.pk)
            assert response.headers["Content-Type"].startswith(kind)
            assert response.headers["Gate-Exit"] == "1"
            assert "Judges rate it worse: lost 6" in response.content.decode()


def test_a_refused_request_is_an_error_in_every_format(script):
    junit = ask(script, query="?format=junit", run="May")
    markdown = ask(script, query="?format=markdown", run="May")

    assert (junit.status_code, markdown.status_code) == (400, 400)
    case = ElementTree.fromstring(junit.content).find("testsuite/testcase")
    assert "no run 'May'" in case.find("error").get("message")
    assert "no run 'May'" in markdown.content.decode()


# Waiting -----------------------------------------------------------------------------------------


@pytest.fixture
def at_work(april):
    Run.objects.filter(pk=april.pk).update(state=BatchState.LIVE)
    return april


def test_a_run_at_work_is_not_done(script, at_work):
    response = ask(script, run=at_work.pk)

    assert response.status_code == 202
    assert (response.headers["Gate-Exit"], response.headers["Retry-After"]) == ("2", "10")
    assert response.json()["is_running"]
    assert "its figures will change" in response.json()["reason"]


def test_a_request_waits_until_the_run_is_done(script, at_work, monkeypatch):
    def finish(seconds):
        Run.objects.filter(pk=at_work.pk).update(state=BatchState.DONE)

    monkeypatch.setattr(api, "sleep", finish)

    assert ask(script, run=at_work.pk, wait=20).status_code == 200


def test_a_request_waits_no_longer_than_it_said(script, at_work, monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(api, "monotonic", lambda: next(clock))
    waits: list[float] = []
    monkeypatch.setattr(api, "sleep", waits.append)

    assert ask(script, run=at_work.pk, wait=5).status_code == 202
    assert len(waits) == 4


def test_one_request_waits_at_a_time_and_others_are_answered_at_once(script, at_work, monkeypatch):
    monkeypatch.setattr(api, "sleep", lambda seconds: pytest.fail("it waited"))
    with api.WAITING:
        assert ask(script, run=at_work.pk, wait=20).status_code == 202


def test_a_request_that_waited_lets_the_next_one_wait(script, at_work, monkeypatch):
    monkeypatch.setattr(api, "sleep", lambda seconds: 1 / 0)
    script.raise_request_exception = False

    assert ask(script, run=at_work.pk, wait=20).status_code == 500
    assert api.WAITING.acquire(blocking=False)
    api.WAITING.release()


def test_a_run_that_was_stopped_is_not_waited_for(script, april):
    Run.objects.filter(pk=april.pk).update(state=BatchState.PAUSED)
    response = ask(script, run=april.pk, wait=20)

    assert (response.status_code, response.json()["exit"]) == (200, 2)
    assert "resume it" in response.json()["reason"]


# Suites ------------------------------------------------------------------------------------------


def test_the_gate_of_a_suite_is_set_through_the_api(april):
    suite = Suite.objects.get()
    url = f"/api/v1/suites/{suite.pk}/"
    maintainer = client_of("maintainer")
    response = maintainer.patch(url, {"gate": {"min_pass_rate": 0.9, "level": 0.05}})

    assert response.json()["gate"] == {"min_pass_rate": 0.9}
    suite.refresh_from_db()
    assert suite.gate_policy.rules == ["conclusion", "blind_spot_points", "min_pass_rate"]
    refused = maintainer.patch(url, {"gate": {"min_pass_rate": 90}})
    assert "min_pass_rate" in str(problems_in(refused)["gate"])
