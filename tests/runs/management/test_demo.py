"""The demo's data, and the whole demo against a scripted provider."""

import re
import signal
import socket
import sqlite3
import stat
from functools import partial
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from evalhub.llm import local_model
from evalhub.models import LanguageModel
from evalhub.work.processes import programs
from issues.content.message_form import turns_to_generate
from issues.models import Criterion, Generation
from reports.dashboard.tour import steps_of
from reports.models import ExecutiveSummary
from runs.demo import prepare as demo
from runs.judging.jury import frozen_jury_of
from runs.management.commands.demo import Command
from runs.models import DEFAULT_APPROACHES, Launch, Run
from runs.review.models import ReviewItem
from tests.evalhub.work import processes
from tests.evalhub.work.processes import eventually, running
from tests.factories import make_user
from tests.provider import Provider

SAMPLE_TESTS = 60
JUDGMENTS = 2 * SAMPLE_TESTS + 9 * 2 + 4
"""One of each sample test in two runs, two of each of the blueprint's criteria, and its checks."""
CALLS = 2 * SAMPLE_TESTS * 2 + 4 + 9 * 2 + 2 + 3
"""Answers and verdicts of the sample, the turns of the blueprint's answers, its verdicts, the
summary of the sample's runs, with the request to mend its reply, which is no JSON, and the tries to
have a borderline option described, whose replies are verdicts."""


@pytest.fixture(autouse=True)
def _allowed(settings, tmp_path):
    settings.EVALHUB_ALLOWED_ADDRESSES = ["127.0.0.1"]
    settings.DATA_DIR = tmp_path


@pytest.mark.django_db
def test_the_demo_launches_two_runs_once(settings, subtests):
    user = make_user("superuser")

    first, second = demo.prepare(user), demo.prepare(user)

    assert first == second
    assert [run.results.count() for run in first] == [SAMPLE_TESTS, SAMPLE_TESTS]
    assert len({run.system_prompt for run in first}) == 2
    assert set(Launch.objects.values_list("requested_by", flat=True)) == {user.pk}
    assert Launch.objects.count() == 2
    with subtests.test("a summary that fits the embedded model, and drafts, are asked for once"):
        summary = ExecutiveSummary.objects.get()
        assert set(summary.runs.all()) == set(first)
        assert (summary.analyst, summary.requested_by) == (first[0].language_model, user)
        assert summary.context_tokens < local_model.CONTEXT_TOKENS
        assert Generation.objects.get().drafts.count() == 5
    with subtests.test("a blueprint has all that a rubric can have"):
        run = Run.objects.get(suite__isnull=False)
        tests = [result.test for result in run.results.all()]
        criteria = Criterion.objects.filter(test__in=tests)
        assert criteria.filter(polarity="should_not").exists()
        assert criteria.filter(alternative=2).exists()
        assert criteria.exclude(check_name="").exists()
        assert criteria.exclude(weight=1).exists()
        assert any(len(turns_to_generate(test.messages)) == 2 for test in tests)
        assert run.system_prompt.startswith("You answer visitors of the town library.")
    with subtests.test("the embedded model judges at chance, and itself by consent"):
        assert "at chance" in first[0].language_model.note
        assert first[0].self_evaluation_allowed
    with subtests.test("the jury judges rubrics too and one judge the sample"):
        judge_run = first[0].judge_runs.get()
        assert judge_run.jury_name == "Embedded judge"
        panel = frozen_jury_of(judge_run.jury)
        assert {judge.approach for judge in panel.frozen_judges} == set(DEFAULT_APPROACHES)
        assert len(panel.judges_asked(on_rubric=False)) == 1
        assert len(panel.judges_asked(on_rubric=True)) == 2
    with subtests.test("two settings point it at another model"):
        settings.EVALHUB_DEMO_MODEL = "openai/other"
        settings.EVALHUB_DEMO_BASE_URL = "http://127.0.0.1:9000/v1"
        runs = demo.prepare(user)
        assert not set(runs) & set(first)
        assert [run.endpoint["litellm_model"] for run in runs] == ["openai/other"] * 2
        assert demo.allowed_address(8177) == "127.0.0.1:9000"


@pytest.mark.django_db
def test_whoever_opens_the_demo_has_done_no_step_and_has_something_to_review():
    reader, _ = demo.admin()
    author = demo.author()
    demo.load_history(author)
    demo.prepare(author)

    assert [step.title for step in steps_of(reader, None) if step.is_done] == []
    assert ReviewItem.objects.filter(queue__name="Needs review").count() > 5
    assert not author.has_usable_password()


@pytest.mark.django_db
def test_another_port_moves_the_embedded_model_and_keeps_what_people_changed(settings):
    model = demo.model()
    LanguageModel.objects.filter(pk=model.pk).update(note="Our own words.")

    settings.EVALHUB_MODEL_PORT = 8999

    moved = demo.model()
    assert moved.pk == model.pk
    assert moved.api_base == "http://127.0.0.1:8999/v1"
    assert moved.note == "Our own words."


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://models.example.org/v1", "models.example.org:443"),
        ("http://10.0.0.7/v1", "10.0.0.7:80"),
        ("http://[::1]:9000/v1", "[::1]:9000"),
    ],
)
def test_the_demo_allows_exactly_its_own_server(settings, url, address):
    settings.EVALHUB_DEMO_MODEL, settings.EVALHUB_DEMO_BASE_URL = "openai/other", url
    assert demo.allowed_address(8177) == address


@pytest.mark.django_db
def test_a_key_in_place_of_its_variable_is_refused(settings):
    settings.EVALHUB_DEMO_MODEL = "openai/other"
    settings.EVALHUB_DEMO_KEY_VARIABLE = "sk-123"
    with pytest.raises(ValidationError, match="name of an environment variable"):
        demo.model()


def test_the_demo_binds_its_key_to_its_own_server(settings):
    settings.EVALHUB_DEMO_MODEL = "openai/other"
    settings.EVALHUB_DEMO_BASE_URL = "http://127.0.0.1:9000/v1"
    settings.EVALHUB_DEMO_KEY_VARIABLE, settings.EVALHUB_KEYS = "LLM_KEY", ["A@b.example.org"]
    assert Command().environment()["EVALHUB_KEYS"] == "A@b.example.org,LLM_KEY@127.0.0.1:9000"


def test_a_base_url_needs_a_model(settings):
    settings.EVALHUB_DEMO_BASE_URL = "http://127.0.0.1:9000/v1"
    with pytest.raises(CommandError, match="EVALHUB_DEMO_MODEL"):
        Command().environment()


@pytest.mark.django_db
def test_the_password_is_random_kept_and_readable_by_its_owner_only(tmp_path):
    user, password = demo.admin()
    again, same = demo.admin()

    assert (user, password) == (again, same)
    assert user.check_password(password)
    assert len(password) >= 16
    assert stat.S_IMODE((tmp_path / "admin_password").stat().st_mode) == 0o600


@pytest.mark.django_db
def test_a_changed_password_is_not_told():
    user, _ = demo.admin()
    user.set_password("something else")
    user.save()
    assert demo.admin()[1] == ""


def test_a_taken_port_gives_way_to_the_next():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert programs.next_free("127.0.0.1", port) > port


def test_the_models_port_is_looked_at_again_after_loading(monkeypatch):
    """Another demo may have taken it: its model would answer, and ours be restarted for ever."""
    started: list[str] = []
    ports = iter([8177, 8178])
    monkeypatch.setattr(local_model, "weights", Path)
    monkeypatch.setattr(programs, "next_free", lambda *_: next(ports))
    monkeypatch.setattr("runs.management.commands.demo.call_command", lambda *_, **__: None)
    monkeypatch.setattr(demo, "admin", lambda: (None, ""))
    for name in ("author", "load_history", "prepare"):
        monkeypatch.setattr(demo, name, lambda *_: None)

    class Demo(Command):
        def check(self, *args: object, **options: object) -> None:
            pass

        def start_again_with(self, environment):
            started.append(environment["EVALHUB_MODEL_PORT"])

        def serve(self, *args):
            started.append("served")

    Demo().handle(port=8000)

    assert started == ["8177", "8178", "served"]


@pytest.mark.kill
def test_the_demo_runs_on_another_endpoint_and_goes_on_at_the_second_start(tmp_path: Path):
    with Provider() as provider:
        environment: dict[str, str | None] = {
            "DATABASE_URL": "",
            "EVALHUB_SECRET_KEY": None,
            "EVALHUB_DATA_DIR": str(tmp_path / "data"),
            "EVALHUB_DEMO_MODEL": "openai/scripted",
            "EVALHUB_DEMO_BASE_URL": provider.base_url,
        }
        for name, ending in (("first", signal.SIGINT), ("second", signal.SIGTERM)):
            log = tmp_path / name
            with running(log, "manage.py", "demo", "--port", "8931", **environment) as process:
                address = eventually(partial(page_to_open, log), f"the demo, in {log}")
                assert processes.answers(address)
                eventually(lambda: is_over(tmp_path / "data"), "the runs and their summary")
                everything = processes.family(process.pid)
                process.send_signal(ending)
                assert process.wait(60) == 0
                assert processes.living(everything) == []
    assert provider.total == CALLS
    assert "are done" in (tmp_path / "second").read_text()


def page_to_open(log: Path) -> str:
    """The address of the run to open, once it is printed."""
    found = re.search(r"Open +(http\S+)", log.read_text())
    return found[1] if found else ""


def is_over(data: Path) -> bool:
    """Return whether all of its own runs was judged, and summary and drafts are written."""
    pending = "SELECT COUNT(*) FROM reports_exchange WHERE state = 'pending'"
    judged = counted(
        data,
        "SELECT COUNT(*) FROM runs_judgment JOIN runs_judgerun ON runs_judgerun.id = judge_run_id "
        "JOIN runs_run ON runs_run.id = run_id WHERE NOT runs_run.is_scripted",
    )
    drafting = pending.replace("reports_exchange", "issues_draft")
    return judged == JUDGMENTS and not counted(data, pending) and not counted(data, drafting)


def counted(data: Path, query: str) -> int:
    database = sqlite3.connect(data / "evalhub.sqlite3", timeout=10)
    try:
        count: int = database.execute(query).fetchone()[0]
        return count
    finally:
        database.close()
