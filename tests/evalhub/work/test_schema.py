"""Workers take no work while the tables are not those of their code."""

import pytest
from django.db import IntegrityError
from django.db.migrations.recorder import MigrationRecorder

from evalhub.models import ItemState, Worker
from evalhub.work import database
from evalhub.work.kinds import kinds
from tests.evalhub.work.processes import eventually
from tests.evalhub.work.test_loop import some_tests, states
from tests.factories import make_run

pytestmark = pytest.mark.django_db(transaction=True)
ANSWERING, *_ = kinds()
Migration = MigrationRecorder.Migration


@pytest.fixture
def migrated_further():
    """Adds a migration that the code does not know; call it to take it back."""
    row = Migration.objects.create(app="runs", name="9999_later")
    yield row.delete
    Migration.objects.filter(name="9999_later").delete()


def test_tables_of_this_code_are_no_problem():
    assert database.mismatch() == ""


def test_mismatch_names_what_is_different_and_what_to_do(migrated_further):
    assert "runs.9999_later" in database.mismatch()
    assert "new code" in database.mismatch()
    migrated_further()
    row = Migration.objects.filter(app="reports").latest("pk")
    row.delete()
    try:
        assert f"lacks reports.{row.name}: run manage.py migrate" in database.mismatch()
    finally:
        Migration.objects.create(app="reports", name=row.name)


def test_worker_waits_until_code_and_tables_fit(provider, model_at, start, migrated_further):
    run = make_run(*some_tests(3), model=model_at())
    worker = start()
    eventually(lambda: Worker.objects.filter(problem__contains="9999_later").exists(), "the reason")
    assert provider.total == 0

    migrated_further()
    worker.end()

    assert states(run) == {ItemState.DONE}


def test_replies_that_the_new_tables_refuse_are_kept(provider, model_at, start, monkeypatch):
    """As with a new column that the old code does not fill: no item ends in an error."""
    provider.may_reply.clear()
    run = make_run(*some_tests(6), model=model_at(max_concurrency=3))
    with monkeypatch.context() as patch:

        def refuse(saves):
            raise IntegrityError("null value in column 'new' violates not-null constraint")

        patch.setattr(ANSWERING, "store", refuse)
        worker = start()
        eventually(lambda: provider.in_flight == 3, "calls in flight")
        later = Migration.objects.create(app="runs", name="9999_later")
        eventually(lambda: worker.loop.heartbeat.problem, "the wait")
        provider.may_reply.set()
        eventually(lambda: not worker.loop._tasks(), "the refusal")
        assert states(run) == {ItemState.PENDING}
    later.delete()
    worker.end()

    assert states(run) == {ItemState.DONE}
    assert max(provider.counts.values()) == 1
