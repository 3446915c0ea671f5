"""A peer's file comes in whole, and what comes in goes out with the same meaning."""

import json

import pytest

from issues.models import Feedback, Issue, Test
from runs.importers.formats.registry import read
from runs.models import Result, Run, Suite
from tests.api import client_of
from tests.factories import make_jury, make_model, make_test
from tests.runs.importers.formats import files_of_peers as peers
from tests.runs.importers.formats.files_of_peers import send

pytestmark = pytest.mark.django_db

IMPORTS = "/api/v1/imports/"


@pytest.fixture
def client():
    return client_of("superuser")


def log(*numbers):
    return peers.inspect_log([peers.inspect_sample(n) for n in numbers])


def test_a_configuration_makes_an_issue_its_tests_and_a_suite_once(client):
    first = send(client, "promptfooconfig.yaml", peers.PROMPTFOO.encode())
    again = send(client, "promptfooconfig.yaml", peers.PROMPTFOO.encode())

    assert first["tests"] == {"made": 2, "changed": 0, "same": 0}
    assert again["tests"] == {"made": 0, "changed": 0, "same": 2}
    suite = Suite.objects.get(pk=first["suite"])
    assert (suite.name, suite.tests.count(), Issue.objects.get().title) == ("Sums", 2, "Sums")
    test = Test.objects.order_by("pk").first()
    assert (test.state, test.origin) == ("in_review", "imported")
    assert any("similar" in note for note in first["notes"])


def test_a_log_becomes_a_run_that_its_own_scores_decide(client):
    found = send(client, "log.json", log(1, 2), approve=True)

    run = Run.objects.get(pk=found["runs"][0]["id"])
    assert (run.model_name, run.system_prompt, run.suite_id) == (
        "openai/gpt-4o",
        "Be brief.",
        found["suite"],
    )
    outcomes = dict(run.results.values_list("test__extras__inspect__id", "outcome"))
    assert outcomes == {"s1": "passed", "s2": "failed"}
    result = run.results.order_by("pk").first()
    assert (result.latency_ms, result.input_tokens, result.answer.text) == (750, 20, "3")
    assert run.judge_runs.get(is_active=True).jury_name == "Imported scores"
    again = send(client, "log.json", log(1, 2), approve=True)
    assert (again["runs"], Run.objects.count()) == ([], 1)


def test_what_comes_in_from_inspect_goes_out_the_same(client):
    data = log(1, 2)
    run = send(client, "log.json", data, approve=True)["runs"][0]["id"]

    written = client.get(f"/api/v1/runs/{run}/export_as/?peer=inspect").content

    before, after = (read("log.json", one)[2] for one in (data, written))
    assert after.tests == before.tests
    (one,), (two,) = before.runs, after.runs
    assert (one.model, one.system_prompt, one.params) == (two.model, two.system_prompt, two.params)
    assert one.answers == two.answers


def test_repeats_and_errors_of_a_log_are_kept(client):
    failed = peers.inspect_sample(2, error={"message": "Time limit"}, scores={})
    samples = [peers.inspect_sample(1), peers.inspect_sample(1, epoch=2), failed]

    run = send(client, "log.json", peers.inspect_log(samples), approve=True)["runs"][0]["id"]

    errors = Result.objects.filter(run=run, outcome="error").order_by("repeat")
    assert [(one.test.extras["inspect"]["id"], one.error_message) for one in errors] == [
        ("s2", "Time limit"),
        ("s2", "The file has no answer for this repeat."),
    ]
    assert Result.objects.filter(run=run, outcome="passed").count() == 2


def test_results_of_promptfoo_are_scored_by_assertion(client):
    found = send(client, "results.json", peers.promptfoo_results(), approve=True)

    outcomes = {
        (run["model_name"], result.answer.text if hasattr(result, "answer") else ""): result.outcome
        for run in found["runs"]
        for result in Run.objects.get(pk=run["id"]).results.all()
    }
    assert outcomes == {
        ("openai:gpt-4o", "It is 4."): "passed",
        ("openai:gpt-4o", "It is 5."): "failed",
        ("anthropic:claude", "It is 4."): "passed",
        ("anthropic:claude", ""): "error",
    }


def test_a_configuration_that_comes_in_goes_out_and_in_again_unchanged(client):
    suite = send(client, "promptfooconfig.yaml", peers.PROMPTFOO.encode())["suite"]

    response = client.get(f"/api/v1/suites/{suite}/export_as/?peer=promptfoo")

    assert "Left-Out" not in response
    again = send(client, "promptfooconfig.json", response.content)
    assert again["tests"] == {"made": 0, "changed": 0, "same": 2}


@pytest.mark.parametrize("peer", ["inspect", "openai_evals"])
def test_data_sets_go_out_as_they_came(client, peer):
    rows = [{"input": [{"role": "user", "content": "2 + 2"}], "ideal": ["4", "four"], "level": 1}]
    suite = send(client, "samples.jsonl", peers.json_lines(*rows))["suite"]

    written = client.get(f"/api/v1/suites/{suite}/export_as/?peer={peer}").content

    (row,) = map(json.loads, written.splitlines())
    assert row == rows[0] if peer == "openai_evals" else row["input"] == "2 + 2"


def test_a_run_goes_out_as_traces_that_come_in_as_feedback(client):
    run = send(client, "log.json", log(1), approve=True)["runs"][0]["id"]

    written = client.get(f"/api/v1/runs/{run}/export_as/?peer=otlp").content
    found = send(client, "traces.json", written)

    assert found["feedback"] == {"added": 1, "duplicates": 0}
    feedback = Feedback.objects.get()
    assert [turn["content"] for turn in feedback.messages] == ["Be brief.", "What is 1 + 2?"]
    assert feedback.answer == "3"
    assert (feedback.model, feedback.raw["scores"][0]["name"]) == ("openai/gpt-4o", "match")


def test_traces_come_in_once(client):
    first, again = (send(client, "t.json", peers.LANGFUSE)["feedback"] for _ in range(2))

    assert (first["added"], again["duplicates"], Feedback.objects.count()) == (1, 1, 1)


def test_a_dry_run_says_what_would_come_in_and_keeps_nothing(client):
    found = send(client, "log.json", log(1, 2), approve=True, dry_run=True)

    assert (found["tests"]["made"], found["runs"][0]["results"]) == (2, 2)
    assert [model.objects.count() for model in (Test, Run, Suite)] == [0, 0, 0]


def test_a_run_whose_tests_wait_for_review_is_named_and_not_imported(client):
    found = send(client, "log.json", log(1))

    assert found["runs"] == []
    assert "not approved" in " ".join(found["notes"])


def test_rights_that_are_missing_are_named():
    annotator = client_of("annotator")

    refused = annotator.post(IMPORTS, {"name": "log.json", "text": log(1).decode()})
    allowed = annotator.post(IMPORTS, {"name": "t.json", "text": json.dumps(peers.LANGFUSE)})

    assert (refused.status_code, "runs.add_run" in str(refused.json())) == (403, True)
    assert allowed.status_code == 201


def test_sealed_tests_do_not_leave_with_a_run_or_a_suite(client):
    found = send(client, "log.json", log(1, 2), approve=True)
    Test.objects.filter(extras__inspect__id="s1").update(sealed=True)
    viewer = client_of("viewer")

    log_ = viewer.get(f"/api/v1/runs/{found['runs'][0]['id']}/export_as/?peer=inspect")
    suite = viewer.get(f"/api/v1/suites/{found['suite']}/export_as/?peer=inspect")

    assert [sample["id"] for sample in log_.json()["samples"]] == ["s2"]
    assert "1 results that you may not read" in log_["Left-Out"]
    assert b"1 + 2" not in suite.content


def test_own_scores_stand_beside_those_of_a_jury(client):
    test, jury = make_test(), make_jury(make_model())
    given = {"test": test.pk, "answer": "4", "scores": [{"name": "exact", "passed": True}]}
    body = {"label": "Build 3", "models": [make_model().pk], "jury": jury.pk, "answers": [given]}

    run = Run.objects.get(pk=client.post("/api/v1/runs/import_answers/", body).json()["id"])

    assert [one.is_active for one in run.judge_runs.order_by("number")] == [True, False]
    judgment = run.judge_runs.get(number=2).judgments.get()
    assert (judgment.value, str(judgment.judge.language_model)) == (1.0, "exact (imported)")


def test_a_score_of_an_unknown_criterion_is_refused(client):
    score = {"name": "exact", "value": 0.5, "criterion": "nowhere"}
    given = {"test": make_test().pk, "answer": "4", "scores": [score]}
    body = {"label": "Build 3", "models": [make_model().pk], "answers": [given]}

    response = client.post("/api/v1/runs/import_answers/", body)

    assert response.status_code == 400
    assert "'nowhere'" in str(response.json())
    assert Run.objects.count() == 0
