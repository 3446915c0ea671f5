"""Files that peers made themselves come in whole, go out again, and mean the same.

`python -m tests.peers.files` makes them, with each peer in an environment of its own.
"""

import json
from pathlib import Path

import pytest

from issues.models import Feedback, Test
from runs.importers.formats.registry import read
from runs.models import Run
from tests.api import client_of
from tests.peers import files, installed, scripted
from tests.provider import Provider
from tests.runs.importers.formats import files_of_peers as peers

REAL = Path(__file__).parent / "real"
database = pytest.mark.django_db


def contents(name):
    return read(name, (REAL / name).read_bytes())[2]


@pytest.fixture
def client():
    return client_of("superuser")


def send(client, name, **options):
    return peers.send(client, name, (REAL / name).read_bytes(), **options)


def exported(client, address):
    response = client.get(f"/api/v1/{address}")
    assert response.status_code == 200, response.content
    return response.content


def by_test(run):
    return sorted(run.answers, key=lambda answer: (answer.test, answer.repeat))


# promptfoo ---------------------------------------------------------------------------------------


def test_promptfoo_expands_variables_as_we_do():
    asked = [test.messages[0]["content"] for test in contents("promptfooconfig.yaml").tests]
    results = json.loads((REAL / "promptfoo_results.json").read_text())["results"]["results"]

    assert asked == list(dict.fromkeys(row["prompt"]["raw"] for row in results))


def test_results_of_promptfoo_hold_the_tests_of_their_configuration():
    assert contents("promptfoo_results.json").tests == contents("promptfooconfig.yaml").tests


def test_runs_of_promptfoo_know_their_parameters_and_no_unknown_cost():
    small, large = contents("promptfoo_results.json").runs

    assert (small.params, large.params) == ({"temperature": 0}, {"temperature": 1})
    assert {answer.cost_usd for answer in small.answers} == {None}


@database
def test_what_passed_in_promptfoo_passes_here(client):
    rows = json.loads((REAL / "promptfoo_results.json").read_text())["results"]["results"]
    expected = {
        (row["provider"]["id"], row["prompt"]["raw"]): "error"
        if row["failureReason"] == 2
        else {True: "passed", False: "failed"}[row["success"]]
        for row in rows
    }

    found = send(client, "promptfoo_results.json", approve=True)

    outcomes = {
        (run["model_name"], result.test.messages[0]["content"]): result.outcome
        for run in found["runs"]
        for result in Run.objects.get(pk=run["id"]).results.select_related("test")
    }
    assert outcomes == expected
    assert {"passed", "failed", "error"} == set(outcomes.values())


@database
@pytest.mark.skipif(
    not installed.is_installed("promptfoo"), reason="not installed: dev.py bench peers"
)
def test_promptfoo_finds_the_same_with_what_goes_out(client, tmp_path):
    suite = send(client, "promptfooconfig.yaml")["suite"]
    written = json.loads(exported(client, f"suites/{suite}/export_as/?peer=promptfoo"))
    results = json.loads((REAL / "promptfoo_results.json").read_text())

    with Provider(scripted.reply) as provider:
        text = json.dumps({name: results["config"][name] for name in ("providers", "defaultTest")})
        endpoint = results["config"]["providers"][0]["config"]["apiBaseUrl"]
        asked = json.loads(text.replace(endpoint, provider.base_url).replace("[REDACTED]", "none"))
        del asked["defaultTest"]["assert"]  # each test has them now
        configuration = tmp_path / "promptfooconfig.json"
        configuration.write_text(json.dumps({**written, **asked}))
        again = files.evaluated(configuration, tmp_path)

    def found(results):
        return {
            (row["provider"]["id"], row["prompt"]["raw"]): (row["success"], row["score"])
            for row in results["results"]["results"]
        }

    assert found(again) == found(results)


# Inspect and lm-evaluation-harness ---------------------------------------------------------------


@database
def test_a_log_as_inspect_packs_it_comes_in_and_goes_out_the_same(client):
    run = send(client, "inspect.eval", approve=True)["runs"][0]["id"]

    written = exported(client, f"runs/{run}/export_as/?peer=inspect")

    before, after = contents("inspect.eval"), read("log.json", written)[2]
    assert after.tests == before.tests
    (one,), (two,) = before.runs, after.runs
    assert (one.model, one.system_prompt, one.params) == (two.model, two.system_prompt, two.params)
    assert by_test(one) == by_test(two)
    assert (one.params, len(one.answers)) == ({"temperature": 0.0}, 6)


def test_chats_and_filters_of_lm_eval_are_read():
    found = contents("samples_own_sums.jsonl")

    assert [test.messages for test in found.tests] == [
        [{"role": "user", "content": row["question"]}] for row in files.DATA["own_sums"]
    ]
    assert [
        (answer.text, [one.value for one in answer.scores]) for answer in found.runs[0].answers
    ] == [("It is 3.", [1.0, 0.0]), ("It is 8.", [0.0, 0.0]), ("It is 7.", [1.0, 0.0])]


def test_choices_of_lm_eval_have_their_text():
    found = contents("samples_own_birds.jsonl")

    assert [test.reference for test in found.tests] == ["a heron", "a hen"]
    for answer, row in zip(found.runs[0].answers, files.DATA["own_birds"], strict=True):
        right = answer.text == row["choices"][row["label"]]
        assert (answer.text in row["choices"], answer.scores[0].value) == (True, float(right))


@database
def test_samples_of_lm_eval_become_a_run_that_goes_out_as_traces(client):
    model = client.post(
        "/api/v1/language-models/", {"name": "small", "litellm_model": "openai/small"}
    )
    options = {"approve": True, "model": model.json()["id"]}
    run = send(client, "samples_own_sums.jsonl", **options)["runs"][0]["id"]

    peers.send(client, "traces.json", exported(client, f"runs/{run}/export_as/?peer=otlp"))

    asked = Feedback.objects.order_by("pk").values_list("prompt", "answer")
    assert list(asked) == [
        (test.messages[0]["content"], answer.text)
        for test, answer in zip(
            contents("samples_own_sums.jsonl").tests,
            contents("samples_own_sums.jsonl").runs[0].answers,
            strict=True,
        )
    ]
    assert Test.objects.count() == 3


# Traces ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "questions"),
    [
        ("openinference.json", ["What is 1 plus 2?", "What is 5 plus 1?"]),
        ("langfuse_spans.json", ["What is 6 plus 1?"]),
        ("langfuse_observations.json", ["What is 6 plus 1?"]),
        ("phoenix_spans.json", ["What is 1 plus 2?", "What is 3 plus 4?"]),
        ("phoenix_otlp.json", ["What is 1 plus 2?", "What is 3 plus 4?"]),
        ("phoenix_frame.jsonl", ["What is 1 plus 2?", "What is 3 plus 4?"]),
    ],
)
def test_traces_hold_each_call_once_with_its_model(name, questions):
    rows = contents(name).feedback

    assert sorted(row["messages"][1]["content"] for row in rows) == questions
    assert {row["messages"][0]["content"] for row in rows} == {scripted.SYSTEM}
    assert {row["model"] for row in rows} == {"small"}
    assert all(row["source_id"] for row in rows)
    replies = [row["messages"][2]["content"] for row in rows if len(row["messages"]) == 3]
    assert len(replies) == len(questions) - ("What is 5 plus 1?" in questions)
    assert all(reply.startswith("It is ") for reply in replies)
