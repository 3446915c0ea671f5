"""Import of small data in GRAFITE's format, and its refusals."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from evalhub.models import LanguageModel, User
from issues.models import Comment, Feedback, Issue, Revision, Tag, Test, TestComment
from runs.importers.grafite.importer import import_grafite_data, read_folder
from runs.importers.grafite.records import Tally
from runs.models import Answer, HumanEvaluation, JudgeRun, Judgment, Result, Run
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db

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


# What arrives ------------------------------------------------------------------------------------


@shared_data
def ledger() -> list[Tally]:
    return load()


def test_an_issue_arrives_with_state_tags_sources_comments_and_feedback(ledger):
    states = dict(Issue.objects.values_list("source_id", "state"))
    assert states == {"i1": "approved", "i2": "resolved", "i3": "deprecated", "i4": "draft"}
    issue, resolved = Issue.objects.filter(source_id__in=("i1", "i2")).order_by("source_id")
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
    assert resolved.resolution_note == "Gone since r8."
    assert [label.name for label in resolved.resolution_labels.all()] == ["fixed in training"]


def test_feedback_arrives_with_what_the_user_said(ledger):
    feedback = Feedback.objects.get(source_id="f1")
    assert (feedback.rating, feedback.prompt, feedback.answer, feedback.state) == (
        "down",
        "How long is a marathon?",
        "42 miles.",
        "accepted",
    )
    assert feedback.note == "ana@example.org: Seen twice this week."
    assert feedback.raw["revision"] == "r7"


def test_a_test_arrives_with_state_flags_comments_and_who_wrote_the_reference(ledger):
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


def test_judge_types_become_built_in_templates_and_a_last_answer_the_flagged_one(ledger):
    families = dict(Test.objects.values_list("source_id", "template__family"))
    assert families == {
        "t1": "input-output-reference-guidelines",
        "t2": "output-reference-guidelines",
        "t3": "input-output-guidelines",
        "t4": None,
    }
    chat = Test.objects.get(source_id="t3").messages
    assert [message["role"] for message in chat] == ["system", "user"]
    flagged = dict(Test.objects.values_list("source_id", "flagged_answer"))
    # A sample that equals the reference, as that of t2, is not flagged.
    assert (flagged["t1"], flagged["t2"], flagged["t3"]) == ("42 miles.", "", "3")


def test_a_run_arrives_as_it_was(ledger):
    run, failed = Run.objects.order_by("source_id")
    assert (run.source_id, run.state, run.params) == (RUN, "done", {"temperature": 0, "seed": 7})
    assert run.created_at.isoformat() == "2026-01-02T03:04:00+00:00"
    # 03:04:00 and 90.5 seconds
    assert run.finished_at.isoformat() == "2026-01-02T03:05:30.500000+00:00"
    judge_run = run.judge_runs.get()
    assert (judge_run.state, judge_run.is_active) == ("done", True)
    assert judge_run.statistics["failures"] == {"imported_error": 1}
    assert failed.source_id == "run_20260103000000"
    assert (failed.state, failed.reason) == ("failed", "The broker went away.")
    assert failed.results.count() == 0


def test_models_and_people_arrive_under_their_names_and_are_not_offered(ledger):
    models = LanguageModel.objects.values_list("name", "is_active", "litellm_model")
    assert sorted(models) == [
        ("crow-4", False, "ollama/crow-4"),
        ("heron:3b", False, "ollama/heron:3b"),
        ("owl:70b", False, "ollama/owl:70b"),
    ]
    rows = User.objects.order_by("username").values_list("username", "is_active")
    assert list(rows) == [("ana@example.org", False), ("ben@example.org", False)]
    assert not User.objects.get(username="ana@example.org").has_usable_password()


def test_a_providers_error_is_a_failed_judgment_and_no_vote(ledger):
    judgment = Judgment.objects.get(state="failed")
    assert (judgment.value, judgment.failure) == (None, "imported_error")
    assert judgment.failure_message.startswith("Max number of retries (5) exceeded.")
    # The other judge said 1: with the error as a vote of 0 the mean would be 0.5 and fail.
    result = judgment.result
    assert (result.score, result.outcome) == (1.0, "passed")
    assert (result.result_scores.get().answered, result.result_scores.get().expected) == (1, 1)


def test_a_candidates_error_is_an_error_and_not_an_answer(ledger):
    result = Result.objects.get(test__source_id="t3")
    assert (result.outcome, result.score, result.error_kind) == ("error", None, "imported_error")
    assert "Connection error" in result.error_message
    assert not Answer.objects.filter(result=result).exists()
    assert not result.judgments.exists()
    assert Answer.objects.get(result__test__source_id="t1").text == "42.195 km\n"


def test_a_persons_vote_replaces_the_judges(ledger):
    result = Result.objects.get(test__source_id="t2")
    evaluation = HumanEvaluation.objects.get()
    assert (result.score, result.outcome, result.is_overridden) == (0.0, "failed", True)
    assert result.result_scores.get().score == 1.0
    assert (evaluation.annotator.email, evaluation.chosen_by, evaluation.option) == (
        "ana@example.org",
        "import",
        "0",
    )
    # It answers the test as it was then.
    assert result.revision.content["guidelines"] == "An older guideline."
    assert result.test.guidelines == "Feet, not metres."


def test_another_text_of_the_judges_prompt_is_another_jury(ledger, folder):
    first = JudgeRun.objects.get(run__source_id=RUN).jury_fingerprint
    Run.objects.filter(source_id=RUN).update(source_id="")
    change(folder, f"{RUN}.json", 0, judge_prompt="Other {{prompt_text}} {{ground_truth}}")

    load(folder)

    assert JudgeRun.objects.get(run__source_id=RUN).jury_fingerprint != first


# Twice, and not at all ---------------------------------------------------------------------------

TABLES = (Tag, Feedback, Issue, Comment, Test, Revision, LanguageModel, Run, Result, Judgment)


@pytest.mark.both_engines
def test_a_second_import_changes_nothing_that_is_there_or_was_changed(ledger, capsys):
    Issue.objects.filter(source_id="i1").update(title="Confuses units")

    def state():
        tables = (*TABLES, User, Answer, HumanEvaluation, Issue.history, Test.history)
        counts = [getattr(t, "objects", t).count() for t in (*tables, Feedback.history)]
        issues = Issue.objects.order_by("pk").values_list("title", "updated_at")
        tests = Test.objects.order_by("pk").values_list("updated_at", flat=True)
        return counts, list(issues), list(tests)

    before = state()

    call_command("import_grafite", str(LEDGER))

    assert "Nothing was changed" in capsys.readouterr().out
    assert state() == before
