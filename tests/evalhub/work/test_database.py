"""Which refusals of the database are waited for."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import DataError, Error, IntegrityError, OperationalError, connection, transaction
from django.db.backends.signals import connection_created

from evalhub.models import Call, LanguageModel
from evalhub.work import database
from evalhub.work.database import Unavailable, _attempt, may_pass
from tests.factories import make_model

pytestmark = pytest.mark.django_db(transaction=True)

REFUSALS = {
    "postgresql": {
        "read-only": ("SET default_transaction_read_only = on", "DELETE FROM evalhub_call"),
        "statement time-out": ("SET statement_timeout = 50", "SELECT pg_sleep(5)"),
        "connection ended": ("SELECT pg_terminate_backend(pg_backend_pid())",),
    },
    "sqlite": {
        "read-only": ("PRAGMA query_only = ON", "DELETE FROM evalhub_call"),
        "full": (
            "PRAGMA max_page_count = 1",
            "CREATE TABLE large AS SELECT zeroblob(9000000) AS x",
        ),
    },
}
LOCK = {
    "postgresql": ("SET lock_timeout = 50", "BEGIN", "LOCK TABLE evalhub_call"),
    "sqlite": ("PRAGMA busy_timeout = 50", "BEGIN IMMEDIATE"),
}


def refusal(*statements: str) -> Error:
    """Return the error of the last statement, in a connection of its own."""
    try:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
    except Error as error:
        return error
    finally:
        connection.close()
    raise AssertionError("nothing was refused")


@pytest.mark.parametrize("case", REFUSALS[connection.vendor])
def test_refusal_that_may_pass_is_waited_for(case):
    assert may_pass(refusal(*REFUSALS[connection.vendor][case]))


def test_lock_that_is_not_available_is_waited_for():
    locked, release = threading.Event(), threading.Event()

    def hold():
        with transaction.atomic():
            Call.objects.all().delete()
            locked.set()
            release.wait(60)
        connection.close()

    other = threading.Thread(target=hold)
    other.start()
    locked.wait(60)
    try:
        assert may_pass(refusal(*LOCK[connection.vendor]))
    finally:
        release.set()
        other.join()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no such limit")
def test_locks_of_a_process_that_sleeps_end(monkeypatch):
    """Another one changes the row that it had locked; its own transaction comes to nothing."""
    monkeypatch.setattr(database, "IDLE_S", 0.1)
    model = make_model()
    database.end_idle_transactions()
    connection.close()

    def sleeping():
        with transaction.atomic():
            LanguageModel.objects.filter(pk=model.pk).update(name="half done")
            with ThreadPoolExecutor(1) as another:
                another.submit(rename).result(30)
            return model.refresh_from_db()

    def rename():
        LanguageModel.objects.filter(pk=model.pk).update(name="done")
        connection.close()

    try:
        with pytest.raises(Unavailable):
            _attempt(sleeping, ())
    finally:
        connection_created.disconnect(dispatch_uid="evalhub.work.database")
        connection.close()
    model.refresh_from_db()
    assert model.name == "done"


def test_what_no_waiting_helps_is_raised_as_it_is():
    with pytest.raises((IntegrityError, DataError)):
        _attempt(lambda: LanguageModel.objects.create(**{"name": None}), ())
    with pytest.raises(Error) as caught, connection.cursor() as cursor:
        cursor.execute("SELECT no_such_column FROM evalhub_call")
    assert not may_pass(caught.value)


def test_lost_connection_is_unavailable():
    def lost():
        connection.close()
        raise OperationalError("server closed the connection unexpectedly")

    with pytest.raises(Unavailable):
        _attempt(lost, ())
