"""A backup brings back the whole database, or changes nothing."""

import json
import os
import re
from datetime import timedelta
from io import StringIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from evalhub.models import ItemState, Worker
from evalhub.operations import postgres, sqlite
from evalhub.operations.backup_file import DESCRIPTION, REPLIES
from evalhub.operations.postgres import ASIDE
from evalhub.operations.restore import release
from evalhub.values import clock
from evalhub.work import leases
from issues.models import Issue
from tests import factories
from tests.evalhub.operations.conftest import connected_to

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("data")]
only_postgres = pytest.mark.skipif("os.environ.get('TEST_DATABASE_URL') is None")


def backup(path, **options):
    said = StringIO()
    call_command("backup", str(path), stdout=said, **options)
    return said.getvalue()


def restore(path, *, replace=True, ask=False, force=False):
    said = StringIO()
    call_command("restore", str(path), replace=replace, ask=ask, force=force, stdout=said)
    return said.getvalue()


@pytest.fixture
def file(tmp_path):
    """A backup of one issue, whose text has changed since."""
    issue = factories.make_issue(title="as it was")
    backup(tmp_path / "backup")
    Issue.objects.filter(pk=issue.pk).update(title="since")
    return tmp_path / "backup"


def titles():
    return list(Issue.objects.values_list("title", flat=True))


def redescribe(file, **changes):
    """Let a backup say something else of itself."""
    with ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[DESCRIPTION] = json.dumps(json.loads(parts[DESCRIPTION]) | changes).encode()
    with ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_a_backup_says_what_it_holds_and_is_for_its_owner_only(tmp_path):
    factories.make_issue()
    factories.make_issue()

    said = backup(tmp_path / "backup")

    engine = "SQLite" if connection.vendor == "sqlite" else "PostgreSQL"
    assert re.search(rf"UTC, EvalHub [\d.]+, {engine} [\d.]+, \d+ migrations; 2 issues, ", said)
    assert (tmp_path / "backup").stat().st_mode & 0o077 == 0
    assert {path.name for path in tmp_path.iterdir()} == {"backup", "data"}


def test_a_backup_is_restored_in_a_new_database(file, empty_database):
    with connected_to(empty_database):
        restore(file, replace=False)

        assert titles() == ["as it was"]
        call_command("migrate", "--check", verbosity=0)
    assert titles() == ["since"]


def test_no_file_is_overwritten_unless_told_and_a_missing_folder_is_named(file, tmp_path):
    with pytest.raises(CommandError, match=f"{file} exists.*--overwrite"):
        backup(file)
    with pytest.raises(CommandError, match="gone/backup cannot be written"):
        backup(tmp_path / "gone" / "backup")

    backup(file, overwrite=True)
    restore(file)
    assert titles() == ["since"]


def test_a_database_with_content_is_not_replaced_unless_told(file):
    with pytest.raises(CommandError, match=r"is not empty.*--replace"):
        restore(file, replace=False)

    assert titles() == ["since"]


def test_replacing_is_confirmed_by_the_name(file, monkeypatch):
    name = Path(connection.settings_dict["NAME"]).name
    for typed in ("yes\n", ""):  # the second as without a terminal
        monkeypatch.setattr("sys.stdin", StringIO(typed))
        with pytest.raises(CommandError, match=f"'{typed[:3]}' is not {name}: nothing was changed"):
            restore(file, ask=True)
        assert titles() == ["since"]

    monkeypatch.setattr("sys.stdin", StringIO(f"{name}\n"))
    restore(file, ask=True)

    assert titles() == ["as it was"]


def test_a_backup_of_another_engine_or_of_newer_code_is_refused(file):
    contents = {"migrations": ["runs.0001_initial", "runs.0099_later"], "rows": {}}
    redescribe(file, contents=contents, evalhub="9.9")
    with pytest.raises(CommandError, match=r"EvalHub 9\.9: .*not know runs\.0099_later\."):
        restore(file)

    redescribe(file, engine="oracle", server="Oracle 23")
    with pytest.raises(CommandError, match="is of Oracle 23, and this database is"):
        restore(file)


def test_no_database_is_replaced_while_workers_beat(file):
    worker = leases.register()

    with pytest.raises(CommandError, match="1 worker at work on"):
        restore(file)

    assert (titles(), Worker.objects.get()) == (["since"], worker)

    restore(file, force=True)
    assert titles() == ["as it was"]


def test_no_database_is_replaced_while_others_have_it_open(file):
    web = connection.copy()
    try:
        with web.cursor() as cursor:
            cursor.execute("SELECT title FROM issues_issue").fetchall()
        with pytest.raises(CommandError, match=r"is in use by .* Stop the web server"):
            restore(file)
        assert titles() == ["since"]
        restore(file, force=True)
    finally:
        web.close()

    assert titles() == ["as it was"]


def test_a_damaged_backup_changes_nothing(file):
    whole = file.read_bytes()
    # A flipped bit may leave what cannot be unpacked, or what has another checksum.
    flipped = [_flip(whole, len(whole) * part // 20) for part in range(1, 20)]
    for damaged in (whole[: len(whole) // 2], b"", *flipped):
        file.write_bytes(damaged)

        with pytest.raises(CommandError, match=r"is no backup of EvalHub|is damaged"):
            restore(file)

    assert titles() == ["since"]


def _flip(content, at):
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def test_a_backup_that_holds_less_than_it_says_changes_nothing(file):
    with ZipFile(file) as archive:
        contents = json.loads(archive.read(DESCRIPTION))["contents"]
    contents["rows"]["issues_issue"] += 1
    redescribe(file, contents=contents)

    with pytest.raises(CommandError, match=r"what (it|the backup) says"):
        restore(file)

    assert titles() == ["since"]


def test_an_older_backup_is_migrated_to_this_code(tmp_path):
    app = "axes"
    *_, before, last = sorted(
        name for label, name in MigrationRecorder(connection).applied_migrations() if label == app
    )
    call_command("migrate", app, before, verbosity=0)
    backup(tmp_path / "backup")
    call_command("migrate", app, last, verbosity=0)

    restore(tmp_path / "backup")

    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []


def test_what_was_in_progress_waits_again_and_counts_no_attempt(tmp_path):
    result = factories.first_result(factories.make_run(factories.make_test()))
    result.worker, result.attempts = leases.register(), 1
    result.save()
    backup(tmp_path / "backup")
    Worker.objects.update(beat_at=clock.now() - timedelta(hours=1))

    said = restore(tmp_path / "backup")

    result.refresh_from_db()
    assert (result.state, result.worker, result.attempts) == (ItemState.PENDING, None, 0)
    assert Worker.objects.get().stopped_at is not None
    assert "1 item in progress at the time: workers start them again." in said


def test_a_worker_that_started_since_keeps_its_items():
    taken_at = clock.now()
    result = factories.first_result(factories.make_run(factories.make_test()))
    result.worker, result.attempts = leases.register(), 1
    result.save()

    assert release(taken_at) == 0
    assert Worker.objects.get().stopped_at is None


def test_a_database_in_use_is_not_replaced(file, monkeypatch):
    monkeypatch.setattr(postgres, "PATIENCE_S", 1)
    monkeypatch.setattr(sqlite, "PATIENCE_S", 0.1)
    if connection.vendor == "sqlite":
        connection.cursor().execute("PRAGMA busy_timeout = 100")
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("UPDATE issues_issue SET title = 'in use'")
            with pytest.raises(CommandError, match=r"is in use.* Stop the web server"):
                restore(file, force=True)
            cursor.execute("ROLLBACK")
    finally:
        other.close()
        connection.close()

    assert titles() == ["since"]


def test_a_database_that_cannot_be_reached_is_named(file, tmp_path):
    with connected_to("gone/database"):
        with pytest.raises(CommandError, match="The database cannot be read: "):
            backup(tmp_path / "other")
        with pytest.raises(CommandError, match="The database cannot be written: "):
            restore(file)


def test_unsaved_replies_come_back_with_their_database(file, data):
    (data / REPLIES).mkdir()
    (data / REPLIES / "one.jsonl").write_text("a paid reply")
    backup(file, overwrite=True)
    (data / REPLIES / "one.jsonl").unlink()

    assert "1 file of unsaved replies" in restore(file)
    assert (data / REPLIES / "one.jsonl").read_text() == "a paid reply"


# PostgreSQL's programs ---------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Puts a program of this name and version first on PATH, which then fails."""

    def program(name, version):
        (tmp_path / "bin").mkdir(exist_ok=True)
        path = tmp_path / "bin" / name
        path.write_text(f'#!/bin/sh\ncase "$1" in --version) echo "{name} (PostgreSQL) {version}"')
        with path.open("a") as script:
            script.write(" ;; *) echo 'out of luck' >&2; exit 1 ;; esac\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")

    return program


@only_postgres
@pytest.mark.parametrize(("act", "name"), [(backup, "pg_dump"), (restore, "pg_restore")])
def test_a_program_that_is_missing_or_too_old_is_named(file, program, monkeypatch, act, name):
    other = file.with_name("other") if act is backup else file
    program(name, "9.6.24")
    with pytest.raises(CommandError, match=rf"{name} \(.* 9\.6\.24\) is older than the server"):
        act(other)

    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CommandError, match=f"There is no {name} on PATH. Install"):
        act(other)


@only_postgres
def test_a_restore_that_fails_leaves_the_database_as_it_was(file, program):
    program("pg_restore", "99.1")

    with pytest.raises(CommandError, match="pg_restore failed: out of luck"):
        restore(file)

    assert titles() == ["since"]
    assert not schemas()


@only_postgres
def test_a_backup_that_fails_leaves_no_file(tmp_path, program):
    program("pg_dump", "99.1")

    with pytest.raises(CommandError, match="pg_dump failed: out of luck"):
        backup(tmp_path / "backup")

    assert not list(tmp_path.glob("*backup*"))


@only_postgres
def test_a_restore_that_was_killed_can_be_repeated(file):
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE SCHEMA "{ASIDE}"')
        cursor.execute(f'CREATE TABLE "{ASIDE}".issues_issue (id integer)')

    restore(file)

    assert titles() == ["as it was"]
    assert not schemas()


def schemas():
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [ASIDE])
        return cursor.fetchall()
