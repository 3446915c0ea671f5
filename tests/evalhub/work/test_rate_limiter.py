"""Calls wait for their model's rate limiter."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from evalhub.llm.endpoint import Endpoint
from evalhub.work.calls.errors import GivenBack
from evalhub.work.limits import rate_limiter as subject
from evalhub.work.limits.budget import Gate
from evalhub.work.limits.rate_limiter import RateLimiters
from evalhub.work.limits.shared_rate import Shared

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MODEL = Endpoint(language_model_id=1, name="m", litellm_model="openai/m")


def limits(width=1, per_minute=None, paused_s=0.0, seen_at=None, is_even=True):
    return {1: Shared(width, per_minute, 1.0, paused_s, seen_at, is_even)}


def joined(**fields):
    limiters = RateLimiters()
    limiter = limiters.limiter(1)
    limiter.is_wanted, limiter.since, limiter.announced_at = True, "2026", NOW
    limiters.follow(limits(**fields))
    return limiters


async def call(limiters, gate, seconds=0.0):
    async with limiters.slot(MODEL, gate):
        await asyncio.sleep(seconds)


def test_nothing_is_called_before_the_others_know():
    async def story():
        limiters = joined(seen_at=NOW - timedelta(seconds=1))
        waiting = asyncio.create_task(call(limiters, Gate()))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        limiters.follow(limits(seen_at=NOW + timedelta(seconds=1)))
        await asyncio.wait_for(waiting, 1)

    asyncio.run(story())


def test_worker_that_waits_to_begin_looks_often():
    """So that it waits for the others' heartbeats, and not for its own."""
    assert joined(seen_at=NOW - timedelta(seconds=1)).are_uneven
    assert not joined(seen_at=NOW + timedelta(seconds=1)).are_uneven


def test_no_more_calls_than_the_width():
    async def story():
        limiters, gate = joined(width=2), Gate()
        tasks = [asyncio.create_task(call(limiters, gate, 0.01)) for _ in range(9)]
        await asyncio.sleep(0)
        assert limiters.limiter(1).in_flight == 2
        await asyncio.gather(*tasks)
        assert limiters.limiter(1).in_flight == 0

    asyncio.run(story())


def test_a_part_that_becomes_wider_is_told():
    """So that the worker claims more at once, and not at its next look."""
    limiters = joined(width=2)
    assert [limiters.follow(limits(width=width)) for width in (2, 5, 3)] == [False, True, False]


def test_cancelled_waiting_leaves_no_gap():
    async def story():
        limiters, gate = joined(), Gate()
        first = asyncio.create_task(call(limiters, gate, 0.05))
        await asyncio.sleep(0)
        waiting = [asyncio.create_task(call(limiters, gate)) for _ in range(5)]
        await asyncio.sleep(0)
        for task in waiting[:4]:
            task.cancel()
        await asyncio.wait_for(asyncio.gather(first, waiting[4]), 1)
        assert limiters.limiter(1).in_flight == 0

    asyncio.run(story())


def test_closed_gate_sends_back_who_waits_for_the_rate(monkeypatch):
    monkeypatch.setattr(subject, "LOOK_S", 0.02)

    async def story():
        limiters, gate = joined(paused_s=600), Gate()
        waiting = asyncio.create_task(call(limiters, gate))
        await asyncio.sleep(0.05)
        gate.is_open = False
        with pytest.raises(GivenBack):
            await asyncio.wait_for(waiting, 1)
        assert limiters.limiter(1).in_flight == 0

    asyncio.run(story())


def test_who_waits_for_a_model_that_is_left_to_others_is_sent_back():
    async def story():
        limiters, gate = joined(), Gate()
        first = asyncio.create_task(call(limiters, gate, 0.05))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(call(limiters, gate))
        await asyncio.sleep(0)
        limiters.follow(limits(width=0))
        with pytest.raises(GivenBack):
            await waiting
        await first

    asyncio.run(story())


def test_who_waits_until_others_have_no_more_than_their_part_keeps_its_item():
    """They have more when one joins, for as long as their calls take."""

    async def story():
        limiters, gate = joined(width=0, is_even=False), Gate()
        waiting = asyncio.create_task(call(limiters, gate))
        await asyncio.sleep(0)
        limiters.follow(limits(width=0, is_even=False))
        await asyncio.sleep(0)
        assert not waiting.done()
        limiters.follow(limits(width=1))
        await asyncio.wait_for(waiting, 1)
        assert limiters.limiter(1).in_flight == 0

    asyncio.run(story())


@pytest.mark.parametrize(("is_crowded", "seconds"), [(False, 0.1), (True, 0.2)])
def test_worker_does_other_things_for_longer_while_calls_wait(monkeypatch, is_crowded, seconds):
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    async def story():
        limiters, gate = joined(), Gate()
        tasks = [asyncio.create_task(call(limiters, gate, 9)) for _ in range(1 + is_crowded)]
        await turn(0)
        monkeypatch.setattr(asyncio, "sleep", sleep)
        monkeypatch.setattr(subject.time, "monotonic", lambda: sum(waited))
        await limiters.give_way(0.1, 0.0, 1.0)
        for task in tasks:
            task.cancel()

    turn = asyncio.sleep
    asyncio.run(story())
    assert sum(waited) == pytest.approx(seconds)


def test_calls_per_minute_are_begun_no_faster(monkeypatch):
    monkeypatch.setattr(subject, "MINUTE_S", 0.3)
    monkeypatch.setattr(subject, "LOOK_S", 0.01)

    async def story():
        limiters, gate = joined(width=50, per_minute=3), Gate()
        begun = asyncio.get_running_loop().time()
        await asyncio.gather(*(call(limiters, gate) for _ in range(7)))
        assert asyncio.get_running_loop().time() - begun >= 0.6  # 3 at 0, 3 at 0.3, 1 at 0.6

    asyncio.run(story())


def test_idle_model_is_left_to_the_others_but_its_calls_still_count(monkeypatch):
    monkeypatch.setattr(subject, "IDLE_S", -1.0)

    async def story():
        limiters = joined()
        await call(limiters, Gate())
        limiters.limiter(1).needed_at = 0.0
        assert limiters.uses() == {"1": {"since": None, "in_flight": 0, "sent": 1}}
        assert limiters.unannounced() == []
        limiters.need([1])
        assert len(limiters.unannounced()) == 1

    asyncio.run(story())
