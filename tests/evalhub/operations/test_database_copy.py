"""A move from SQLite to another database: every row arrives as it was."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dj_database_url
import pytest
from django.db import connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

from evalhub.llm.content.images import store_image
from evalhub.models import User
from evalhub.operations.database_copy import CopyRefused, copy_from, tables
from issues.models import Issue
from runs.models import Result
from tests.factories import make_issue, make_user
from tests.images import picture
from tests.reports.judged_runs import judged

pytestmark = [pytest.mark.django_db, pytest.mark.both_engines]
FILLED = "filled"


def connect(wrapper: Any) -> None:
    """Open any database, as outside of tests, which may open the default one only."""
    if wrapper.connection is None:
        with wrapper.wrap_database_errors:
            wrapper.connect()


def columns(model: Any) -> list[str]:
    return [field.attname for field in model._meta.local_concrete_fields]


def content(alias: str) -> dict[str, list[Any]]:
    """All rows of all tables."""
    return {
        model._meta.db_table: list(
            model._base_manager.using(alias).order_by("pk").values_list(*columns(model))
        )
        for model in tables()
    }


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a SQLite file with the rows that the test's database has now."""
    monkeypatch.setattr(BaseDatabaseWrapper, "ensure_connection", connect)
    judged([1.0], [0.0])
    make_issue(title="Größe — 大")
    store_image(picture())
    url = f"sqlite:///{tmp_path}/old.sqlite3"
    options = connections.configure_settings({"default": dj_database_url.parse(url)})["default"]
    connections.databases[FILLED] = options
    other = connections[FILLED]
    with other.cursor() as cursor:
        cursor.execute("PRAGMA foreign_keys = OFF")
    with other.schema_editor() as editor:
        for model in [*tables(), MigrationRecorder.Migration]:
            if not model._meta.auto_created:  # those come with the others
                editor.create_model(model)
    with transaction.atomic(using=FILLED):
        for model in [*tables(), MigrationRecorder.Migration]:
            model._base_manager.using(FILLED).bulk_create(model._base_manager.all())
    yield url
    other.close()
    del connections[FILLED], connections.databases[FILLED]


def empty() -> None:
    """Leave no user, as after `migrate`."""
    for model in tables():
        model._base_manager.all()._raw_delete(connection.alias)


def test_every_row_arrives_as_it_was_and_counting_goes_on(source):
    before = content(FILLED)
    outcomes = list(Result.objects.order_by("pk").values_list("outcome", flat=True))
    assert outcomes == ["passed", "failed"]
    empty()

    copied = copy_from(source)

    assert content("default") == before
    assert copied == sum(map(len, before.values()))
    assert list(Result.objects.order_by("pk").values_list("outcome", flat=True)) == outcomes
    newest = Issue.objects.order_by("-pk")[0].pk
    assert make_issue().pk > newest


def test_a_database_in_use_is_left_alone(source):
    make_user()
    users = User.objects.count()
    with pytest.raises(CopyRefused, match="has users already"):
        copy_from(source)
    assert User.objects.count() == users


def test_tables_of_another_version_are_refused(source):
    empty()
    MigrationRecorder.Migration.objects.using(FILLED).create(app="runs", name="9999_later")
    with pytest.raises(CopyRefused, match="different tables"):
        copy_from(source)
