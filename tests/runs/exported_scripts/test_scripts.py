"""Exports of suites, tests and runs, and scripts that repeat them through the API."""

import json
import time

import pytest
from django.urls import reverse

from evalhub.models import Token, TokenScope
from runs.models import Run, Suite
from tests.factories import first_result, make_jury, make_test
from tests.issues.pages import log_in
from tests.provider import verdict

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def maintainer(client, provider):
    provider.script = lambda request: verdict(1) if "response_format" in request else "Four."
    return log_in(client, "maintainer")


@pytest.fixture
def execute(live_server, maintainer, work, monkeypatch, capsys):
    """Executes code that asks this site, and whose pauses let it work."""
    _, token = Token.objects.issue(user=maintainer, name="script", scope=TokenScope.WRITE)
    monkeypatch.setenv("EVALHUB_URL", live_server.url)
    monkeypatch.setenv("EVALHUB_TOKEN", token)
    monkeypatch.setattr(time, "sleep", lambda seconds: work())

    def run(code):
        exec(compile(code, "script", "exec"), {"__name__": "__main__"})
        return capsys.readouterr().out

    return run


def text_of(response):
    assert response.status_code == 200
    return response.getvalue().decode()


def code_of(notebook):
    cells = json.loads(notebook)["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")


def test_a_suite_is_exported_and_its_notebook_runs_it(client, execute, model_at):
    model_at(name="candidate")
    make_jury(model_at())
    suite = Suite.objects.create(name="Nightly")
    suite.tests.set([make_test("One?"), make_test("Two?")])
    page = client.get(reverse("admin:runs_suite_change", args=[suite.pk])).content.decode()
    address = "admin:runs_suite_export"
    files = {f: text_of(client.get(reverse(address, args=[suite.pk, f]))) for f in FORMATS}
    assert all(reverse(address, args=[suite.pk, f]) in page for f in FORMATS)
    assert json.loads(files["json"])["suite"]["name"] == "Nightly"
    assert len(files["jsonl"].splitlines()) == 2
    assert "One?" in files["csv"]

    said = execute(code_of(files["ipynb"]))
    run = Run.objects.get()
    assert (run.suite, run.results.count()) == (suite, 2)
    assert "2 of 2 scored passed, 2 in all" in said


def test_a_name_is_no_code(client, execute, model_at):
    suite = Suite.objects.create(name="x\nraise SystemExit\r# %%\nraise SystemExit")
    suite.tests.set([make_test("One?")])
    model_at(name="candidate")
    make_jury(model_at())
    address = "admin:runs_suite_export"
    for file_format, code in (("py", str), ("ipynb", code_of)):
        file = text_of(client.get(reverse(address, args=[suite.pk, file_format])))
        assert "1 in all" in execute(code(file))


FORMATS = ("csv", "json", "jsonl", "py", "ipynb")


def test_the_list_of_tests_and_a_run_are_repeated_by_their_scripts(client, execute, model_at):
    model_at(name="candidate")
    make_jury(model_at())
    test = make_test("One?")
    make_test("Two?")
    tests = f"{reverse('admin:issues_test_changelist')}?q=One"
    page = client.get(tests).content.decode()
    for name in ("csv", "json", "jsonl"):
        assert f"{reverse('admin:issues_test_download', args=[name])}?q=One" in page
    lines = text_of(client.get(f"{reverse('admin:issues_test_download', args=['jsonl'])}?q=One"))
    assert [json.loads(line)["id"] for line in lines.splitlines()] == [test.pk]
    execute(text_of(client.get(f"{reverse('admin:issues_test_script_py')}?q=One")))
    run = Run.objects.get()
    assert first_result(run).test == test

    page = client.get(run.get_absolute_url()).content.decode()
    address = reverse("reports:run_notebook", args=[run.pk])
    assert address in page
    execute(code_of(text_of(client.get(address))))
    again = Run.objects.exclude(pk=run.pk).get()
    assert (again.language_model, first_result(again).test) == (run.language_model, test)
    assert again.judge_runs.get().jury_fingerprint == run.judge_runs.get().jury_fingerprint
    lines = text_of(client.get(reverse("reports:run_jsonl", args=[run.pk])))
    assert json.loads(lines)["outcome"] == "passed"
