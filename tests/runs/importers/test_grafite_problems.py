"""Refusals of data in GRAFITE's format, and what it becomes in files that were changed."""

import shutil
from itertools import count
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evalhub.models import User
from issues.models import Issue, Test
from runs.importers.grafite.importer import ImportRefused, import_grafite_data, read_folder
from runs.importers.grafite.stored_errors import is_error
from runs.models import HumanEvaluation
from tests.runs.importers.test_grafite import LEDGER, RUN, TABLES, change, load
from tests.runs.importers.test_grafite import folder as folder  # a fixture


def problems(folder: Path) -> list[str]:
    with pytest.raises(ImportRefused) as refused:
        read_folder(folder)
    return [str(problem) for problem in refused.value.problems]


@pytest.mark.django_db
def test_feedback_that_is_not_in_the_files_becomes_a_source_and_a_freeform_prompt_a_raw_one(folder):
    (folder / "feedback.json").unlink()
    change(folder, "test.json", 1, tools=[{"name": "a copy of what its text holds"}])

    load(folder)

    sources = Issue.objects.get(source_id="i1").sources.values_list("value", flat=True)
    assert "GRAFITE feedback f1" in sources
    test = Test.objects.get(source_id="t2")
    assert test.tools == []
    assert test.messages == [{"role": "raw_prompt", "content": "How tall is a door in feet?"}]


@pytest.mark.django_db
def test_a_person_with_an_account_keeps_it():
    ana = User.objects.create_user("ana", email="Ana@example.org")

    load()

    assert HumanEvaluation.objects.get().annotator == ana
    assert Issue.objects.get(source_id="i1").author == ana


@pytest.mark.django_db
@pytest.mark.both_engines
def test_a_dry_run_a_wrong_row_and_a_failure_half_way_leave_nothing(capsys, folder, monkeypatch):
    call_command("import_grafite", str(LEDGER), "--dry-run")
    assert "dry run" in capsys.readouterr().out
    assert [table.objects.count() for table in TABLES] == [0] * len(TABLES)

    data = read_folder(LEDGER)
    change(folder, f"{RUN}.json", 2, test_id="t9")
    with pytest.raises(CommandError, match=r"1 problem:\nrun_20260102030405\.json\[2\]\.test_id"):
        call_command("import_grafite", str(folder))
    monkeypatch.setattr("runs.importers.grafite.run_importer.score_result_scores", None)
    with pytest.raises(TypeError):
        import_grafite_data(data)
    assert not Issue.objects.exists()


def test_all_problems_of_all_files_are_told_at_once(folder):
    change(folder, "issue.json", 1, title=5)
    change(folder, "issue.json", 2, tags="none")
    change(folder, "test.json", 0, issue_id="i9")
    change(folder, "run.json", 0, status="vanished")

    assert problems(folder) == [
        "issue.json[1].title: expected text, not 5.",
        'issue.json[2].tags: expected a list, not "none".',
        'run.json[0].status: expected one of done, failed, started, in progress, not "vanished".',
        'test.json[0].issue_id: issue.json has no row with the id "i9".',
    ]


def test_a_problem_names_file_position_and_value(tmp_path, subtests):
    number = count()

    def told(file, position, problem, **fields):
        with subtests.test(problem):
            folder = Path(shutil.copytree(LEDGER, tmp_path / str(next(number))))
            change(folder, file, position, **fields)
            assert any(found.startswith(problem) for found in problems(folder)), problems(folder)

    def issue(problem, position=0, **fields):
        told("issue.json", position, f"issue.json[{position}]{problem}", **fields)

    def test(problem, **fields):
        told("test.json", 0, f"test.json[0].{problem}", **fields)

    def run(problem, **fields):
        told("run.json", 0, f"run.json[0].{problem}", **fields)

    def score(problem, value):
        votes = [{"test_score": value, "model_id": "owl:70b"}]
        told(f"{RUN}.json", 0, f"{RUN}.json[0].judge_results[0]{problem}", judge_results=votes)

    issue(".title: is missing.", title=" ")
    issue(".title: has 201 characters", title="x" * 201)
    issue(".title: has a character that cannot", title="a\0b")
    issue("._id: is missing.", _id=None)
    issue(': "i1" is already the id of issue.json[0]', position=1, _id="i1")
    issue(".active: expected true or false", active="yes")
    issue(".test_ids: test.json has no", test_ids=["t1", "t8"])
    issue(".feedback_ids: feedback.json", feedback_ids=["f8"])
    issue(".tags[1]: expected text, not 3", tags=["a", 3])
    issue(".sources[0].type: expe", sources=[{"type": "fax"}])
    issue(".comments[0]: expected an object", comments=[7])
    test("messages: has neithe", messages=[], prompt="")
    test("messages", messages=[{"role": "boss", "content": "x"}])
    judge = {"parameters": {"judge_type": "Prompt template 10: all"}}
    test("validators[0].parameters.judge_type: expected one of", validators=[judge])
    run('run_id: "../secret" cannot be', run_id="../secret")
    run('run_id: "<unknown" cannot be', run_id="<unknown")
    run("run_id: there is no file run_1.json", run_id="run_1")
    told("run.json", 0, f"{RUN}.json: run.json has no row of this run.", run_id="run_1")
    run("created_at: expected a date such as", created_at="soon")
    run("elapsed_time: expected a time", elapsed_time="long")
    told(f"{RUN}.json", 1, f"{RUN}.json[1].test_id: {RUN}.json[0] is alr", test_id="t1")
    score(".test_score: expected 0 or 1, not 0.5.", 0.5)
    score('.test_score: expected 0 or 1, not "1".', "1")


def test_a_file_that_cannot_be_read_is_told(folder, subtests):
    for text, problem in (
        ('[{"_id": ', "issue.json: is not JSON: Expecting value: line 1 column 10"),
        ("{}", "issue.json: expected a list of objects, not {}."),
        ("[1]", "issue.json[0]: expected an object, not 1."),
        ('[{"n": NaN}]', "issue.json: is not JSON: NaN is not a JSON number."),
        ("[" * 100_000, "issue.json: is nested too deeply."),
    ):
        (folder / "issue.json").write_text(text)
        with subtests.test(problem):
            assert any(found.startswith(problem) for found in problems(folder))
    shutil.rmtree(folder)
    assert problems(folder) == [
        f"{name}.json: there is no such file." for name in ("issue", "run", "settings", "test")
    ]


def test_what_an_exception_says_is_an_error_and_what_a_judge_may_say_is_not(subtests):
    errors = (
        "Max number of retries (5) exceeded. Error:\nwhatever",
        'Parsing error in the judge response string "no idea"',
        "1 validation error for Verdict\nscore\n  Input should be 0 or 1",
        "Error code: 429 - {'error': 'slow down'}",
        "Traceback (most recent call last):\n  File …",
        "'NoneType' object has no attribute 'content'",
        "'content'",
        "Request timed out.",
        "Expecting value: line 1 column 1 (char 0)",
        "openai.APITimeoutError: Request timed out.",
    )
    words = (
        "",
        "The answer is wrong.",
        "SyntaxError: the code does not run, so it fails.",
        "The output quotes 'Max number of retries (5) exceeded', which is not asked for.",
        "Error: the model gives no unit.",
        "Timeouts are handled. Connection error handling is missing, so the score is 0.",
    )
    for text in errors + words:
        with subtests.test(text):
            assert is_error(text) is (text in errors)
