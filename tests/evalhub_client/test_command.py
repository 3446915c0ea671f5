"""The remote commands, as a shell runs them, against the site."""

import json
import subprocess
import sys

import pytest

from evalhub_client import Client
from evalhub_client.command import main
from evalhub_client.gate_flags import FLAGS
from runs.models import Run, Suite
from runs.suites.gate_policy import GatePolicy
from tests.evalhub_client.test_client import token  # noqa: F401
from tests.factories import make_issue, make_jury, make_test
from tests.provider import prompt, verdict
from tests.runs.conftest import model_at, provider, work  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shell(live_server, token, monkeypatch, capsys):  # noqa: F811
    """Run a command; returns its exit code and what it prints."""
    monkeypatch.setenv("EVALHUB_URL", live_server.url)
    monkeypatch.setenv("EVALHUB_TOKEN", token)

    def run(*arguments):
        code = main([str(one) for one in arguments])
        return code, capsys.readouterr().out

    return run


@pytest.fixture
def suite(provider, model_at):  # noqa: F811
    """Two tests, one of which fails; a model called bot and a jury called judges."""
    provider.script = lambda request: (
        verdict(int("Question 1?" in prompt(request))) if "response_format" in request else "Four."
    )
    found = Suite.objects.create(name="Release tests")
    found.tests.set(make_test(f"Question {n}?", source_id=f"q{n}") for n in range(2))
    make_jury(model_at(), name="judges")
    model_at(name="bot")
    return found


LAUNCH = ("--suite", "Release tests", "--model", "bot", "--jury", "judges")


def test_a_release_from_run_to_gate(shell, suite, work, tmp_path):  # noqa: F811
    code, printed = shell("run", "--label", "v1", "--option", "repeats=2", *LAUNCH)
    number = int(printed)
    assert (code, shell("wait", number, "--timeout", 0)[0]) == (0, 2)
    work()

    assert shell("wait", number) == (0, f"Run {number} (v1, bot) is done.\n")
    code, printed = shell("results", number, "--outcome", "failed")
    assert (code, printed) == (0, "q0\tfailed\t0.00\tFour.\n" * 2)
    lines = shell("results", number, "--format", "jsonl")[1].splitlines()
    assert {json.loads(line)["outcome"] for line in lines} == {"passed", "failed"}

    rules = ("--conclusion", "off")
    junit = tmp_path / "gate.xml"
    assert shell("gate", "v1", *rules, "--min-pass-rate", 0)[0] == 0
    code, printed = shell("gate", "v1", *rules, "--failing-severity", "low", "--junit", junit)
    assert (code, "Exit 1: " in printed) == (1, True)
    assert "<failure" in junit.read_text()
    code, printed = shell("gate", number, "--json")
    assert (code, json.loads(printed)["verdict"]) == (2, "cannot_tell")


def test_a_run_waited_for_prints_its_id_alone(shell, suite, monkeypatch, work):  # noqa: F811
    launch = Client.launch

    def launched(*args, **kwargs):
        made = launch(*args, **kwargs)
        work()
        return made

    monkeypatch.setattr(Client, "launch", launched)
    code, printed = shell("run", "--label", "v1", "--wait", "60", *LAUNCH)
    assert (code, printed) == (0, f"{Run.objects.get().pk}\n")
    (run,) = json.loads(shell("run", "--label", "v2", "--wait", "--json", *LAUNCH)[1])
    assert run["state"] == "done"


def test_a_workflow_that_is_run_again_starts_no_second_run(shell, suite):
    first, again = (
        shell("run", "--label", "v1", "--idempotency-key", "job-7", *LAUNCH)[1] for _ in range(2)
    )

    assert first == again


def test_tests_are_pulled_changed_and_pushed(shell, tmp_path):
    issue, file = make_issue(), tmp_path / "tests.jsonl"
    test = {"source_id": "a", "messages": [{"role": "user", "content": "2 + 2?"}]}
    file.write_text(json.dumps(test))

    pushed = shell("push-tests", file, "--issue", issue.pk)
    assert pushed == (0, "Tests: 1 made, 0 changed, 0 same.\n")
    file.write_text(shell("pull-tests", "--issue", issue.pk)[1].replace("2 + 2?", "3 + 3?"))
    counts = json.loads(shell("push-tests", file, "--json")[1])
    assert {name: len(ids) for name, ids in counts.items()} == {
        **{"made": 0, "changed": 1, "same": 0}
    }


def test_answers_are_pushed(shell, suite, tmp_path):
    file = tmp_path / "answers.jsonl"
    rows = [{"test": test.pk, "answer": "Four."} for test in suite.tests.all()]
    file.write_text("\n".join(map(json.dumps, rows)))
    code, printed = shell("push-answers", file, "--label", "v1", *LAUNCH)

    assert code == 0
    assert Run.objects.get(pk=int(printed)).has_imported_answers


@pytest.mark.parametrize(
    "arguments",
    [
        ("wait", 999),
        ("gate", "nothing"),
        ("results", 999),
        ("run", "--label", "v1", "--model", "nobody"),
        ("push-tests", "missing.jsonl"),
    ],
)
def test_what_cannot_be_done_exits_with_2(shell, arguments):
    code, printed = shell(*arguments, "--json")

    assert code == 2
    assert json.loads(printed)["exit"] == 2


def test_a_wrong_token_exits_with_2(shell, monkeypatch):
    monkeypatch.setenv("EVALHUB_TOKEN", "ehub_wrong")
    code, printed = shell("gate", 1, "--json")

    assert code == 2
    assert "401" in json.loads(printed)["reason"]


def test_a_command_without_a_site_says_what_to_set(shell, monkeypatch):
    monkeypatch.delenv("EVALHUB_URL")

    assert shell("wait", 1)[0] == 2


def test_flags_of_the_gate_are_the_rules_of_the_policy():
    assert set(FLAGS) == set(GatePolicy.model_fields)


START = """
import os, sys
from evalhub.command_line import main
def start(*arguments):
    sys.argv = ["evalhub", *arguments]
    try:
        main()
    except SystemExit as end:
        print("ended:", *arguments, end.code or 0, "django" in sys.modules)
start("wait", "1"), start("gate", "1"), start("run", "--help")
del os.environ["EVALHUB_URL"]
start("gate", "--help")
"""


def test_only_gate_without_a_site_starts_django_and_asks_this_installation(tmp_path):
    key = {"EVALHUB_SECRET_KEY": "x" * 50, "EVALHUB_DATA_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", START],
        env={"EVALHUB_URL": "nowhere", "EVALHUB_TOKEN": "ehub_x", **key},
        capture_output=True,
        text=True,
        check=False,
    )

    ends = [line for line in done.stdout.splitlines() if line.startswith("ended: ")]
    assert ends == [
        "ended: wait 1 2 False",
        "ended: gate 1 2 False",
        "ended: run --help 0 False",
        "ended: gate --help 0 True",
    ]
