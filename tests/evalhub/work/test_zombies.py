"""A worker whose items others may be doing asks nothing more for them."""

import asyncio
import threading
from typing import Any

import pytest

from evalhub.models import Call, ItemState
from evalhub.models import Worker as WorkerRow
from evalhub.values import clock
from evalhub.work import batches, leases
from evalhub.work.calls.caller import Caller
from evalhub.work.heartbeat import Heartbeat
from evalhub.work.models import LEASE_S
from tests.evalhub.work.processes import eventually
from tests.evalhub.work.test_loop import slowly, some_tests, states
from tests.factories import make_run

pytestmark = pytest.mark.django_db(transaction=True)


def test_worker_that_was_silent_for_a_lease_begins_no_call(provider, model_at, start, monkeypatch):
    """As one that was stopped, or whose machine slept: it wakes amid its items."""
    slowly(provider, 0.05)
    run = make_run(*some_tests(30), model=model_at(max_concurrency=2))
    begun: list[Any] = []
    claims: list[Any] = []
    boot = clock.since_boot

    async def no_beat(heartbeat):
        """The database does not answer yet."""

    monkeypatch.setattr(Caller, "once", noted(begun, Caller.once))
    monkeypatch.setattr(batches, "claim", noted(claims, batches.claim))
    worker = start()
    eventually(lambda: provider.total > 2, "a worker at work")

    with monkeypatch.context() as patch:
        patch.setattr(Heartbeat, "beat", no_beat)
        patch.setattr(clock, "since_boot", lambda: boot() + LEASE_S)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), worker._events).result(30)
        before, claimed = len(begun), len(claims)
        eventually(lambda: len(claims) > claimed + 3, "that it would call")
        assert len(begun) == before

    worker.end()
    assert states(run) == {ItemState.DONE}
    assert max(provider.counts.values()) == 1


def test_worker_that_slept_amid_a_claim_does_not_begin_it(provider, model_at, start, monkeypatch):
    """Others got its items meanwhile, and it beats before it sees what it had claimed."""
    run = make_run(*some_tests(3), model=model_at())
    now = clock.now()
    other = WorkerRow.objects.create(name="other", started_at=now, beat_at=now)
    boot, claim = clock.since_boot, batches.claim
    slept: list[float] = []

    def claim_and_sleep(*args):
        claimed = claim(*args)
        if claimed.item_ids and not slept:
            run.results.update(worker=other)
            slept.append(LEASE_S + 1)
            beat = worker.loop.heartbeat.beat()
            asyncio.run_coroutine_threadsafe(beat, worker._events).result(30)
        return claimed

    monkeypatch.setattr(clock, "since_boot", lambda: boot() + sum(slept))
    monkeypatch.setattr(batches, "claim", claim_and_sleep)
    worker = start()
    eventually(lambda: slept, "a claim")
    eventually(lambda: not worker.loop.heartbeat.claiming.locked(), "its end")
    assert not worker.loop._tasks()
    assert provider.total == 0

    leases.free([other])
    worker.end()
    assert states(run) == {ItemState.DONE}
    assert max(provider.counts.values()) == 1


def noted(calls: list[Any], function: Any) -> Any:
    def call(*args: Any) -> Any:
        calls.append(args)
        return function(*args)

    return call


def test_item_that_another_worker_got_is_not_asked_for(provider, model_at, start):
    free = threading.Event()
    provider.script = lambda request: "Four." if free.wait(30) else "Late."
    run = make_run(*some_tests(2), model=model_at(max_concurrency=1))
    worker = start()
    eventually(
        lambda: provider.total == run.results.exclude(worker=None).count() - 1 == 1, "claims"
    )
    now = clock.now()
    other = WorkerRow.objects.create(name="other", started_at=now, beat_at=now)

    run.results.update(worker=other)
    live = worker.loop.live_batches
    eventually(
        lambda: all(caller.is_lost for one in live.values() for caller in one.tasks.values()),
        "that it learns of it",
    )
    free.set()
    eventually(lambda: not any(one.tasks for one in live.values()), "the end of its tasks")

    assert provider.total == Call.objects.count() == 1
    leases.free([other])
    worker.end()
    assert states(run) == {ItemState.DONE}
    assert provider.total == 2
