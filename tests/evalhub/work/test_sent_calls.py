"""Calls of a worker that died are counted: their replies are lost, their cost is unknown."""

import os

import pytest

from evalhub.models import Call
from evalhub.work.calls import sent_calls
from evalhub.work.calls.sent_calls import REPLY_LOST, SPARE_LINES, SentCalls
from tests.evalhub.work.test_saver import call_of
from tests.factories import make_run

pytestmark = pytest.mark.django_db


def test_calls_in_flight_of_a_process_that_died_are_counted_once():
    run = make_run()
    saved, lost = call_of(run), call_of(run)
    sent = SentCalls()
    for call in (saved, lost):
        call.cost_usd = None
        sent.add(call)
    saved.save()

    sent_calls.take_in()
    assert Call.objects.get() == saved

    os.write(sent.file, b'{"model": "evalh')  # killed while it wrote
    os.close(sent.file)
    sent_calls.take_in()
    sent_calls.take_in()

    found = Call.objects.exclude(pk=saved.pk).get()
    assert (found.started_at, found.error_kind) == (lost.started_at, REPLY_LOST)
    run.refresh_from_db()
    assert run.spent == (None, 1)
    assert not list(sent_calls.folder().iterdir())


def test_file_of_calls_in_flight_stays_small():
    run = make_run()
    sent, open_call = SentCalls(), call_of(run)
    sent.add(open_call)
    for _ in range(2 * SPARE_LINES):
        call = call_of(run)
        sent.add(call)
        sent.saved([call])

    assert len(sent.path.read_text().splitlines()) <= SPARE_LINES + 2
    os.close(sent.file)
    sent_calls.take_in()
    assert Call.objects.filter(started_at=open_call.started_at).exists()
