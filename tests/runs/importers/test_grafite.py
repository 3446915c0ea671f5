"""Import of small data in GRAFITE's format, and its refusals."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evalhub.models import LanguageModel, User
from issues.models import Comment, Feedback, Issue, Revision, Tag, Test, TestComment
from runs.importers.grafite.importer import ImportRefused, import_grafite_data, read_folder
from runs.importers.grafite.records import Tally
from runs.importers.grafite.stored_errors import is_error
from runs.models import Answer, HumanEvaluation, JudgeRun, Judgment, Result, Run

LEDGER = Path(__file__).parent / "grafite"
RUN = "run_20260102030405"


def load(folder: Path = LEDGER) -> list[Tally]:
    return import_grafite_data(read_folder(folder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the data that a test may spoil."""
    return Path(shutil.copytree(LEDGER, tmp_path / "ledger"))


def change(folder: Path, file: str, position: int, **fields: Any) -> None:
    path = folder / file
    rows = json.loads(path.read_text())
    rows[position].update(fields)
    path.write_text(json.dumps(rows))


def problems(folder: Path) -> list[str]:
    with pytest.raises(ImportRefused) as refused:
        read_folder(folder)
    return [str(problem) for problem in refused.value.problems]


# Issues, tests and feedback ----------------------------------------------------------------------


@pytest.mark.django_db
def test_states_follow_the_switches_in_their_order():
    load()

    states = dict(Issue.objects.values_list("source_id", "state"))
    assert states == {"i1": "approved", "i2": "resolved", "i3": "deprecated", "i4": "draft"}


@pytest.mark.django_db
def test_an_issue_arrives_with_tags_sources_comments_and_feedback():
    load()

    issue = Issue.objects.get(source_id="i1")
    assert sorted(tag.name for tag in issue.tags.all()) == ["arithmetic", "units"]
    assert [(s.kind, s.value) for s in issue.sources.all()] == [
        ("github", "https://github.example/app/issues/5"),
        ("general", "support call"),
    ]
    comment = issue.comments.get()
    assert (comment.author_name, comment.created_at.isoformat()) == (
        "ben@example.org",
        "2025-11-03T08:15:00+00:00",
    )
    assert [feedback.source_id for feedback in issue.feedback.all()] == ["f1"]


@pytest.mark.django_db
def test_a_resolution_arrives_with_its_label_and_note():
    load()

    issue = Issue.objects.get(source_id="i2")
    assert issue.resolution_note == "Gone since r8."
    assert [label.name for label in issue.resolution_labels.all()] == ["fixed in training"]


@pytest.mark.django_db
def test_feedback_arrives_with_what_the_user_said():
    load()

    feedback = Feedback.objects.get(source_id="f1")
    assert (feedback.rating, feedback.prompt, feedback.answer, feedback.state) == (
        "down",
        "How long is a marathon?",
        "42 miles.",
        "accepted",
    )
    assert feedback.note == "ana@example.org: Seen twice this week."
    assert feedback.raw["revision"] == "r7"


@pytest.mark.django_db
def test_feedback_that_is_not_in_the_files_becomes_a_source(folder):
    (folder / "feedback.json").unlink()

    load(folder)

    sources = Issue.objects.get(source_id="i1").sources.values_list("value", flat=True)
    assert "GRAFITE feedback f1" in sources


@pytest.mark.django_db
def test_a_freeform_prompt_becomes_a_raw_prompt(folder):
    change(folder, "test.json", 1, tools=[{"name": "a copy of what its text holds"}])
    load(folder)

    test = Test.objects.get(source_id="t2")
    assert test.tools == []
    assert test.messages == [{"role": "raw_prompt", "content": "How tall is a door in feet?"}]


@pytest.mark.django_db
def test_an_answer_at_the_end_of_a_chat_becomes_the_flagged_one():
    load()

    test = Test.objects.get(source_id="t3")
    assert [message["role"] for message in test.messages] == ["system", "user"]
    assert test.flagged_answer == "3"


@pytest.mark.django_db
def test_a_sample_that_equals_the_reference_is_not_flagged():
    load()

    flagged = dict(Test.objects.values_list("source_id", "flagged_answer"))
    assert (flagged["t1"], flagged["t2"]) == ("42 miles.", "")


@pytest.mark.django_db
def test_judge_types_become_the_built_in_templates():
    load()

    families = dict(Test.objects.values_list("source_id", "template__family"))
    assert families == {
        "t1": "input-output-reference-guidelines",
        "t2": "output-reference-guidelines",
        "t3": "input-output-guidelines",
        "t4": None,
    }


@pytest.mark.django_db
def test_a_test_arrives_with_state_flags_comments_and_who_wrote_the_reference():
    load()

    rows = Test.objects.order_by("source_id").values_list("state", "reference_by")
    assert list(rows) == [
        ("approved", "human"),
        ("approved", "model"),
        ("in_review", "unknown"),
        ("deprecated", "unknown"),
    ]
    comment = TestComment.objects.get()
    assert (comment.test.source_id, comment.author.email) == ("t1", "ben@example.org")
    assert (comment.text, f"{comment.created_at:%Y-%m-%d}") == ("Too easy.", "2025-11-04")
    tagged = Test.objects.filter(tags__isnull=False).values_list("source_id", "tags__name")
    assert {name for _, name in tagged} == {"by hand", "short"}


# Runs --------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_run_arrives_as_it_was():
    load()

    run = Run.objects.get(source_id=RUN)
    assert (run.state, run.params) == ("done", {"temperature": 0, "seed": 7})
    assert run.created_at.isoformat() == "2026-01-02T03:04:00+00:00"
    # 03:04:00 and 90.5 seconds
    assert run.finished_at.isoformat() == "2026-01-02T03:05:30.500000+00:00"


@pytest.mark.django_db
def test_models_arrive_under_their_names_and_are_not_offered():
    load()

    models = LanguageModel.objects.values_list("name", "is_active", "litellm_model")
    assert sorted(models) == [
        ("crow-4", False, "ollama/crow-4"),
        ("heron:3b", False, "ollama/heron:3b"),
        ("owl:70b", False, "ollama/owl:70b"),
    ]


@pytest.mark.django_db
def test_a_providers_error_is_a_failed_judgment_and_no_vote():
    load()

    judgment = Judgment.objects.get(state="failed")
    assert (judgment.value, judgment.failure) == (None, "imported_error")
    assert judgment.failure_message.startswith("Max number of retries (5) exceeded.")
    # The other judge said 1: with the error as a vote of 0 the mean would be 0.5 and fail.
    result = judgment.result
    assert (result.score, result.outcome) == (1.0, "passed")
    assert (result.result_scores.get().answered, result.result_scores.get().expected) == (1, 2)


@pytest.mark.django_db
def test_a_persons_vote_replaces_the_judges():
    load()

    result = Result.objects.get(test__source_id="t2")
    evaluation = HumanEvaluation.objects.get()
    assert (result.score, result.outcome, result.is_overridden) == (0.0, "failed", True)
    assert result.result_scores.get().score == 1.0
    assert (evaluation.annotator.email, evaluation.chosen_by, evaluation.option) == (
        "ana@example.org",
        "import",
        "0",
    )


@pytest.mark.django_db
def test_people_who_are_named_get_accounts_that_cannot_log_in():
    load()

    rows = User.objects.order_by("username").values_list("username", "is_active")
    assert list(rows) == [("ana@example.org", False), ("ben@example.org", False)]
    assert not User.objects.get(username="ana@example.org").has_usable_password()


@pytest.mark.django_db
def test_a_person_with_an_account_keeps_it():
    ana = User.objects.create_user("ana", email="Ana@example.org")

    load()

    assert HumanEvaluation.objects.get().annotator == ana
    assert Issue.objects.get(source_id="i1").author == ana


@pytest.mark.django_db
def test_a_candidates_error_is_an_error_and_not_an_answer():
    load()

    result = Result.objects.get(test__source_id="t3")
    assert (result.outcome, result.score, result.error_kind) == ("error", None, "imported_error")
    assert "Connection error" in result.error_message
    assert not Answer.objects.filter(result=result).exists()
    assert not result.judgments.exists()


@pytest.mark.django_db
def test_a_result_answers_the_test_as_it_was_then():
    load()

    result = Result.objects.get(test__source_id="t2")
    assert result.revision.content["guidelines"] == "An older guideline."
    assert Test.objects.get(source_id="t2").guidelines == "Feet, not metres."


@pytest.mark.django_db
def test_an_answer_keeps_its_white_space():
    load()

    assert Answer.objects.get(result__test__source_id="t1").text == "42.195 km\n"


@pytest.mark.django_db
def test_a_failed_run_arrives_without_results():
    load()

    run = Run.objects.get(source_id="run_20260103000000")
    assert (run.state, run.reason, run.results.count()) == ("failed", "The broker went away.", 0)


@pytest.mark.django_db
def test_the_judge_run_is_done_current_and_knows_its_failures():
    load()

    judge_run = JudgeRun.objects.get(run__source_id=RUN)
    assert (judge_run.state, judge_run.is_active) == ("done", True)
    assert judge_run.statistics["failures"] == {"imported_error": 1}


@pytest.mark.django_db
def test_another_text_of_the_judges_prompt_is_another_jury(folder):
    load()
    first = JudgeRun.objects.get(run__source_id=RUN).jury_fingerprint
    Run.objects.filter(source_id=RUN).update(source_id="")
    change(folder, f"{RUN}.json", 0, judge_prompt="Other {{prompt_text}} {{ground_truth}}")

    load(folder)

    assert JudgeRun.objects.get(run__source_id=RUN).jury_fingerprint != first


# Twice, and not at all ---------------------------------------------------------------------------

TABLES = (Tag, Feedback, Issue, Comment, Test, Revision, LanguageModel, Run, Result, Judgment)


@pytest.mark.both_engines
@pytest.mark.django_db
def test_a_second_import_changes_nothing(capsys):
    load()
    counts = [table.objects.count() for table in (*TABLES, User, Answer, HumanEvaluation)]
    updated = list(Test.objects.order_by("pk").values_list("updated_at", flat=True))
    updated += list(Issue.objects.order_by("pk").values_list("updated_at", flat=True))
    histories = Issue.history.count() + Test.history.count() + Feedback.history.count()

    call_command("import_grafite", str(LEDGER))

    assert "Nothing was changed" in capsys.readouterr().out
    assert counts == [t.objects.count() for t in (*TABLES, User, Answer, HumanEvaluation)]
    again = list(Test.objects.order_by("pk").values_list("updated_at", flat=True))
    again += list(Issue.objects.order_by("pk").values_list("updated_at", flat=True))
    assert again == updated
    assert Issue.history.count() + Test.history.count() + Feedback.history.count() == histories


@pytest.mark.django_db
def test_what_people_have_changed_since_stays():
    load()
    Issue.objects.filter(source_id="i1").update(title="Confuses units")

    load()

    assert Issue.objects.get(source_id="i1").title == "Confuses units"


@pytest.mark.django_db
def test_a_dry_run_saves_nothing_and_says_so(capsys):
    call_command("import_grafite", str(LEDGER), "--dry-run")

    assert "dry run" in capsys.readouterr().out
    assert [table.objects.count() for table in TABLES] == [0] * len(TABLES)


@pytest.mark.django_db
def test_one_wrong_row_and_nothing_is_loaded(folder):
    change(folder, f"{RUN}.json", 2, test_id="t9")

    with pytest.raises(CommandError, match=r"1 problem:\nrun_20260102030405\.json\[2\]\.test_id"):
        call_command("import_grafite", str(folder))

    assert not Issue.objects.exists()


@pytest.mark.both_engines
@pytest.mark.django_db
def test_what_fails_half_way_is_undone(monkeypatch):
    ledger = read_folder(LEDGER)
    monkeypatch.setattr("runs.importers.grafite.run_importer.score_result_scores", None)

    with pytest.raises(TypeError):
        import_grafite_data(ledger)

    assert not Issue.objects.exists()


# Problems, without a database --------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("file", "position", "fields", "problem"),
    [
        ("issue.json", 0, {"title": " "}, "issue.json[0].title: is missing."),
        ("issue.json", 0, {"title": "x" * 201}, "issue.json[0].title: has 201 characters"),
        ("issue.json", 0, {"_id": None}, "issue.json[0]._id: is missing."),
        ("issue.json", 1, {"_id": "i1"}, 'issue.json[1]: "i1" is already the id of issue.json[0]'),
        ("issue.json", 0, {"active": "yes"}, "issue.json[0].active: expected true or false"),
        ("issue.json", 0, {"test_ids": ["t1", "t8"]}, "issue.json[0].test_ids: test.json has no"),
        ("issue.json", 0, {"feedback_ids": ["f8"]}, "issue.json[0].feedback_ids: feedback.json"),
        ("issue.json", 0, {"tags": ["a", 3]}, "issue.json[0].tags[1]: expected text, not 3"),
        ("issue.json", 0, {"sources": [{"type": "fax"}]}, "issue.json[0].sources[0].type: expe"),
        ("issue.json", 0, {"comments": [7]}, "issue.json[0].comments[0]: expected an object"),
        ("issue.json", 0, {"title": "a\0b"}, "issue.json[0].title: has a character that cannot"),
        ("test.json", 0, {"messages": [], "prompt": ""}, "test.json[0].messages: has neithe"),
        ("test.json", 0, {"messages": [{"role": "boss", "content": "x"}]}, "test.json[0].messages"),
        (
            "test.json",
            0,
            {"validators": [{"parameters": {"judge_type": "Prompt template 10: all"}}]},
            "test.json[0].validators[0].parameters.judge_type: expected one of",
        ),
        ("run.json", 0, {"run_id": "../secret"}, 'run.json[0].run_id: "../secret" cannot be'),
        ("run.json", 0, {"run_id": "<unknown"}, 'run.json[0].run_id: "<unknown" cannot be'),
        ("run.json", 0, {"run_id": "run_1"}, "run.json[0].run_id: there is no file run_1.json"),
        ("run.json", 0, {"run_id": "run_1"}, f"{RUN}.json: run.json has no row of this run."),
        ("run.json", 0, {"created_at": "soon"}, "run.json[0].created_at: expected a date such as"),
        ("run.json", 0, {"elapsed_time": "long"}, "run.json[0].elapsed_time: expected a time"),
        (f"{RUN}.json", 1, {"test_id": "t1"}, f"{RUN}.json[1].test_id: {RUN}.json[0] is alr"),
        (
            f"{RUN}.json",
            0,
            {"judge_results": [{"test_score": 0.5, "model_id": "owl:70b"}]},
            f"{RUN}.json[0].judge_results[0].test_score: expected 0 or 1, not 0.5.",
        ),
        (
            f"{RUN}.json",
            0,
            {"judge_results": [{"test_score": "1", "model_id": "owl:70b"}]},
            f'{RUN}.json[0].judge_results[0].test_score: expected 0 or 1, not "1".',
        ),
    ],
)
def test_a_problem_names_file_position_and_value(folder, file, position, fields, problem):
    change(folder, file, position, **fields)

    assert any(found.startswith(problem) for found in problems(folder)), problems(folder)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[{"_id": ', "issue.json: is not JSON: Expecting value: line 1 column 10"),
        ("{}", "issue.json: expected a list of objects, not {}."),
        ("[1]", "issue.json[0]: expected an object, not 1."),
        ('[{"n": NaN}]', "issue.json: is not JSON: NaN is not a JSON number."),
        ("[" * 100_000, "issue.json: is nested too deeply."),
    ],
)
def test_a_file_that_cannot_be_read_is_told(folder, text, problem):
    (folder / "issue.json").write_text(text)

    assert any(found.startswith(problem) for found in problems(folder))


def test_missing_files_are_told(tmp_path):
    assert problems(tmp_path) == [
        f"{name}.json: there is no such file." for name in ("issue", "run", "settings", "test")
    ]


@pytest.mark.parametrize(
    "text",
    [
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
    ],
)
def test_what_an_exception_says_is_an_error(text):
    assert is_error(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The answer is wrong.",
        "SyntaxError: the code does not run, so it fails.",
        "The output quotes 'Max number of retries (5) exceeded', which is not asked for.",
        "Error: the model gives no unit.",
        "Timeouts are handled. Connection error handling is missing, so the score is 0.",
    ],
)
def test_what_a_judge_may_say_is_not(text):
    assert not is_error(text)
