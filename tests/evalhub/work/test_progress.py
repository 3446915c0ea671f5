"""The actions on a batch as a whole, by its rows."""

import threading

import pytest
from django.db import connection, transaction

from evalhub.models import BatchState, ItemState
from evalhub.work import batches, progress
from evalhub.work.kinds import kinds
from runs.lifecycle import control
from runs.models import Run
from tests.evalhub.work.processes import eventually
from tests.factories import make_run, make_test

pytestmark = pytest.mark.django_db

ANSWERING = kinds()[0]


def test_counts_have_every_state():
    run = make_run(make_test("a"), make_test("b"))
    assert progress.counts(run.results.all()) == {
        "pending": 2,
        "done": 0,
        "error": 0,
        "cancelled": 0,
    }


def test_resume_does_at_once_what_waited_for_its_next_try():
    run = make_run()
    run.results.update(next_try_at="2100-01-01T00:00Z")
    progress.pause(run)
    progress.resume(run, run.results.all())
    assert run.results.get().next_try_at is None


def test_batch_with_something_left_is_not_marked_as_done():
    run = make_run()
    batches.finish_if_done(ANSWERING, run.pk)
    run.refresh_from_db()
    assert run.state == BatchState.LIVE


@pytest.mark.django_db(transaction=True)
def test_batch_reopened_while_it_was_being_marked_is_not_lost():
    """The worker counts nothing left just before a person retries an error."""
    run = make_run()
    run.results.update(state=ItemState.ERROR)
    began = threading.Event()

    def retry():
        try:
            with transaction.atomic():
                progress.lock(run)
                began.set()
                eventually(lambda: finishing.ident, "the worker")
                connection.cursor().execute("SELECT 1")
                control.retry_errors(run)
        finally:
            connection.close()

    def finish():
        try:
            batches.finish_if_done(ANSWERING, run.pk)
        finally:
            connection.close()

    retrying, finishing = threading.Thread(target=retry), threading.Thread(target=finish)
    retrying.start()
    began.wait(60)
    finishing.start()
    retrying.join()
    finishing.join()

    assert Run.objects.get().state == BatchState.LIVE
    assert run.results.get().state == ItemState.PENDING
