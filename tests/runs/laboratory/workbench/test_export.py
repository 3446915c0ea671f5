"""Exports of a workbench, and the script and notebook that need no EvalHub."""

import csv
import io
import json
import subprocess
import sys

import pytest

from tests.issues.pages import log_in
from tests.provider import digest
from tests.runs.laboratory.workbench.rows import evaluate, judge_of_fours, make_bench, url

pytestmark = pytest.mark.django_db

GOOD, BAD = "It is four.", "=It is five."
SHOW = 'print(json.dumps({"agreement": AGREEMENT, "results": RESULTS, "failed": FAILED}))'


@pytest.fixture
def user(client, provider):
    provider.script = judge_of_fours
    return log_in(client, "annotator")


def exported(client, bench, file_format):
    response = client.get(url("export", bench.pk, file_format))
    assert response.status_code == 200
    assert response["Content-Disposition"] == f'attachment; filename="sums.{file_format}"'
    return response.content.decode()


def executed(tmp_path, *scripts):
    """What scripts print at their ends, run by one process with one key in its environment."""
    file = tmp_path / "script.py"
    codes = [f"{script}\n{SHOW}\n" for script in scripts]
    file.write_text("\n".join(f"exec({code!r}, {{'__name__': '__main__'}})" for code in codes))
    environment = {"PATH": "", "LAB_KEY": "sk-lab", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(
        [sys.executable, str(file)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if line.startswith('{"agreement"')]
    assert len(said) == len(scripts), done.stdout
    return [json.loads(line) for line in said]


def test_rows_are_exported_with_what_judges_say_now(client, user, model_at):
    bench = make_bench(user, model_at(name="Ada"), answers=[(GOOD, {"": "1"}), (BAD, {})])
    evaluate(client, bench)
    rows = [json.loads(line) for line in exported(client, bench, "jsonl").splitlines()]
    assert [(row["answer"], row["expected"], row["judged"]) for row in rows] == [
        (GOOD, "1", {"Ada": "1"}),
        (BAD, "", {"Ada": "0"}),
    ]
    table = list(csv.DictReader(io.StringIO(exported(client, bench, "csv").lstrip("\ufeff"))))
    assert [row["answer"] for row in table] == [GOOD, f"'{BAD}"]  # no formula
    assert json.loads(exported(client, bench, "json"))["workbench"]["text"] == bench.text


def test_the_script_and_the_notebook_repeat_the_evaluation(
    client, user, provider, model_at, tmp_path, monkeypatch
):
    monkeypatch.setenv("LAB_KEY", "sk-lab")
    criteria = [{"text": "Says four", "weight": 2}, {"text": "Is brief", "mandatory": True}]
    criteria += [{"check": "contains", "arguments": {"text": "four"}}]
    bench = make_bench(
        user,
        model_at(name="Ada", api_key_env="LAB_KEY"),
        answers=[(GOOD, {}), ('It is \'five\'.\n"""', {})],
        criteria=criteria,
    )
    options = {0: "UNMET", 1: "FULLY_MET"}
    provider.script = lambda request: json.dumps(
        {"justification": "x", "score": options[json.loads(judge_of_fours(request))["score"]]}
    )
    bench.rows.update(expected={bench.criteria[0]["key"]: "FULLY_MET"})
    evaluate(client, bench)
    asked = [digest(request) for request in provider.requests]

    script = exported(client, bench, "py")
    assert "sk-lab" not in script
    (by_script,) = executed(tmp_path, script)
    again = [digest(request) for request in provider.requests[len(asked) :]]
    assert sorted(again) == sorted(asked)
    assert provider.headers["Authorization"] == "Bearer sk-lab"
    assert by_script["agreement"] == {"Ada": {"agreed": 1, "compared": 2}}
    assert [row["score"] for row in by_script["results"]] == [1.0, 0.0]
    assert by_script["failed"] == 0

    notebook = json.loads(exported(client, bench, "ipynb"))
    assert (notebook["nbformat"], notebook["cells"][0]["cell_type"]) == (4, "markdown")
    cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    assert executed(tmp_path, "\n".join(cells)) == [by_script]


def test_what_the_script_cannot_do_is_refused_and_said(client, user, provider, model_at, tmp_path):
    criteria = [{"text": "Says four", "alternative": 1}, {"text": "Is brief", "alternative": 2}]
    bench = make_bench(
        user, model_at(name="Ada"), answers=[(GOOD, {}), (BAD, {})], criteria=criteria
    )
    provider.script = lambda request: json.dumps({"justification": "x", "score": "FULLY_MET"})
    script = exported(client, bench, "py")
    assert "alternative criteria" in script
    assert "compared in pairs" in script
    bench.judges |= {"method": "debate"}
    bench.save()
    debate = exported(client, bench, "py")
    assert "Ada: judges that debate" in debate

    found, _ = executed(tmp_path, script, debate)
    assert [row["score"] for row in found["results"]] == [None, None]
    assert provider.total == 2 * len(criteria)  # nobody debates


def test_a_failure_in_the_script_is_no_verdict(client, user, provider, model_at, tmp_path):
    bench = make_bench(user, model_at(name="Ada"), answers=[(GOOD, {"": "1"})])
    script = exported(client, bench, "py")
    provider.script = lambda request: "I cannot say."
    (found,) = executed(tmp_path, script)
    assert (found["failed"], found["results"][0]["score"]) == (1, None)
    assert found["agreement"]["Ada"]["compared"] == 0
