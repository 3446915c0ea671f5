"""The doctor names what is wrong and what to do, and exits with 1 when something must be done."""

import json
import os
import subprocess
import sys
from collections import namedtuple
from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.conf import settings as project
from django.core.checks import run_checks
from django.core.management import call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from evalhub.display.formatting import counted
from evalhub.models import Webhook, Worker
from evalhub.operations import doctor
from evalhub.values.database_cache import CachedValue
from evalhub.work import leases
from tests import factories
from tests.provider import UNAUTHORIZED, Provider

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("data")]


@pytest.fixture(autouse=True)
def _unchecked(monkeypatch):
    """Without Django's own checks, which take a second and which two tests run."""
    monkeypatch.setattr(doctor, "run_checks", lambda **_: [])


def diagnosis(**options):
    """The exit code, and the findings as (level, area, text)."""
    said, code = StringIO(), 0
    try:
        call_command("doctor", json=True, stdout=said, **options)
    except SystemExit as end:
        code = int(end.code or 0)
    found = json.loads(said.getvalue())
    return code, [(f["level"], f["area"], f"{f['message']} {f['hint']}") for f in found]


def found(area, level, **options):
    """The only finding of this area and level."""
    code, findings = diagnosis(**options)
    (text,) = [text for lev, where, text in findings if (lev, where) == (level, area)]
    assert (code == 1) == any(lev == "error" for lev, _, _ in findings)
    return text


def test_a_healthy_installation_has_no_error(monkeypatch):
    monkeypatch.setattr(doctor, "run_checks", run_checks)

    code, findings = diagnosis()

    assert (code, [one for one in findings if one[0] == "error"]) == (0, [])
    areas = {"settings", "versions", "disk", "database", "clock", "workers", "keys", "models"}
    assert {area for _, area, _ in findings} == areas


def test_each_finding_is_a_line_and_the_last_line_counts(settings, monkeypatch):
    monkeypatch.setattr(doctor, "run_checks", run_checks)
    settings.EVALHUB_KEYS = ["LLM_KEY"]
    said = StringIO()

    with pytest.raises(SystemExit) as end:
        call_command("doctor", stdout=said)

    *lines, last = said.getvalue().splitlines()
    assert {line.split()[0] for line in lines} <= {"ok", "warning", "error"}
    assert any("EVALHUB_KEYS: 'LLM_KEY' is not VARIABLE@host" in line for line in lines)
    errors = sum(line.startswith("error") for line in lines)
    assert (end.value.code, last.split(",")[0]) == (1, counted(errors, "error"))


def test_a_database_that_is_not_there_is_an_error(tmp_path):
    url = "postgres://nobody@127.0.0.1:1/nothing"
    environment = os.environ | {"DATABASE_URL": url, "EVALHUB_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "manage.py", "doctor"]

    done = subprocess.run(
        command, cwd=project.BASE_DIR, env=environment, capture_output=True, text=True, check=False
    )

    last = done.stdout.splitlines()[-2]
    assert (done.returncode, done.stderr) == (1, "")
    assert last.startswith("error    database  It does not answer:")
    assert last.endswith("Check DATABASE_URL, and that its server runs.")


@pytest.mark.both_engines
def test_a_database_that_refuses_to_write_is_an_error():
    sqlite = connection.vendor == "sqlite"
    setting = "PRAGMA query_only = {}" if sqlite else "SET default_transaction_read_only = {}"
    with connection.cursor() as cursor:
        cursor.execute(setting.format("on"))
        try:
            text = found("database", "error")
        finally:
            cursor.execute(setting.format("off"))

    assert text.startswith("It cannot be written: ")


@pytest.mark.both_engines
def test_trying_to_write_leaves_nothing_behind():
    diagnosis()
    diagnosis()

    assert not CachedValue.objects.filter(key="doctor").exists()


@pytest.mark.parametrize("is_newer", [True, False])
def test_migrations_that_are_not_those_of_the_code_are_an_error(is_newer):
    recorder = MigrationRecorder(connection)
    change = (recorder.record_applied, recorder.record_unapplied)
    app, name = ("runs", "0099_later") if is_newer else ("runs", "0001_initial")
    do, undo = change if is_newer else change[::-1]
    do(app, name)
    try:
        text = found("database", "error")
    finally:
        undo(app, name)

    assert f"{app}.{name}" in text
    assert ("with the new code" if is_newer else "run manage.py migrate") in text


@pytest.mark.both_engines
def test_connections_are_counted_against_the_limit(monkeypatch):
    if connection.vendor == "sqlite":
        assert not any("connections are in use" in text for _, _, text in diagnosis()[1])
        return
    assert any("connections are in use" in text for lev, _, text in diagnosis()[1] if lev == "ok")
    monkeypatch.setattr(doctor, "MANY_CONNECTIONS", 0)
    assert "Raise max_connections" in found("database", "warning")


def test_work_without_a_worker_or_one_that_takes_none_is_an_error():
    factories.make_run(factories.make_test())
    assert found("workers", "error") == "Work waits and no worker is at it. Run manage.py worker."

    worker = leases.register()
    Worker.objects.update(problem="The database lacks runs.0002: run manage.py migrate.")
    assert found("workers", "error").startswith(f"{worker} takes no work: The database lacks runs")


def test_silent_and_dead_workers_are_warnings():
    long_ago = timezone.now() - timedelta(hours=1)
    silent = leases.register()
    Worker.objects.update(beat_at=long_ago)
    assert f"{silent} has had no heartbeat since" in found("workers", "warning")

    Worker.objects.update(stopped_at=timezone.now())
    assert found("workers", "warning").startswith("1 worker died within a week.")


def test_keys_that_are_unbound_or_not_set_are_named(monkeypatch):
    factories.make_model(name="unbound", api_key_env="OTHER_KEY")
    monkeypatch.delenv("SOME_KEY", raising=False)
    factories.make_model(name="unset", api_key_env="SOME_KEY", api_base="http://127.0.0.1/v1")
    monkeypatch.setenv("HOOK_SECRET", "set")
    hook = {"url": "http://127.0.0.1/", "secret_env": "HOOK_SECRET"}
    Webhook.objects.create(name="good", **hook)
    Webhook.objects.create(name="bad", **hook | {"url": "https://example.org"}, is_active=False)

    assert "Model unbound: OTHER_KEY is not listed as a key" in found("keys", "error")
    assert "Model unset: SOME_KEY is not set here. Set SOME_KEY" in found("keys", "warning")
    assert found("keys", "ok").startswith("1 of 3 named keys")


def test_models_are_asked_only_when_told(settings):
    settings.EVALHUB_ALLOWED_ADDRESSES = ["127.0.0.1"]

    def script(request):
        return "ready" if request["model"] == "good" else UNAUTHORIZED

    with Provider(script) as provider:
        for name in ("good", "bad"):
            model = {"litellm_model": f"openai/{name}", "api_base": provider.base_url}
            factories.make_model(name=name, structured_output=False, **model)
        diagnosis()
        asked_before = provider.total
        ok, error = found("models", "ok", models=True), found("models", "error", models=True)

    assert asked_before == 0
    assert (ok[:14], error[:20]) == ("good: It works", "bad: It did not work")


def test_a_disk_that_is_full_is_an_error_and_unsaved_replies_are_named(data, monkeypatch):
    usage = namedtuple("usage", "total used free")
    for free, level in ((10**12, "ok"), (5 * 10**8, "warning"), (10**6, "error")):
        monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _, free=free: usage(0, 0, free))
        levels = {lev for lev, area, text in diagnosis()[1] if area == "disk" and "free" in text}
        assert levels == {level}
    monkeypatch.undo()

    (data / "unsaved_replies").mkdir()
    (data / "unsaved_replies" / "one.jsonl").touch()
    (data / "unsaved_replies" / "two.jsonl.refused").touch()
    folder = project.DATA_DIR / "unsaved_replies"
    assert f"1 file of unsaved replies in {folder}." in found("disk", "warning")
    assert f"1 file of replies in {folder} could not be taken in" in found("disk", "error")


@pytest.mark.both_engines
@pytest.mark.parametrize(("ahead_s", "level"), [(0, "ok"), (10, "warning"), (3600, "error")])
def test_a_clock_that_differs_from_the_databases_is_named(ahead_s, level):
    with time_machine.travel(timezone.now() + timedelta(seconds=ahead_s)):
        assert found("clock", level).startswith("The database's clock differs by ")


def test_packages_are_compared_with_the_lock():
    lines = [
        "django==1.0 \\",
        "    --hash=sha256:00",
        "no-such-package==1 ; python_version >= '3' \\",
        "another-one==1 ; python_version < '3' \\",
        f"pytest=={pytest.__version__} \\",
    ]

    wrong = doctor.differences(lines)

    assert wrong == [f"django {doctor.version('django')}", "no-such-package is missing"]
