"""Calls wait in their model's lane until they may begin."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from evalhub.llm.endpoint import Endpoint
from evalhub.work import lanes as subject
from evalhub.work.gate import Gate, GivenBack
from evalhub.work.lanes import Lanes
from evalhub.work.pace import Shared

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MODEL = Endpoint(language_model_id=1, name="m", litellm_model="openai/m")


def limits(width=1, per_minute=None, silent_s=0.0, heard_at=None):
    return {1: Shared(width, per_minute, 1.0, silent_s, heard_at)}


def joined(**fields):
    lanes = Lanes()
    lane = lanes.lane(1)
    lane.is_wanted, lane.since, lane.announced_at = True, "2026", NOW
    lanes.follow(limits(**fields))
    return lanes


async def call(lanes, gate, seconds=0.0):
    async with lanes.slot(MODEL, gate):
        await asyncio.sleep(seconds)


def test_nothing_is_called_before_the_others_know():
    async def story():
        lanes = joined(heard_at=NOW - timedelta(seconds=1))
        waiting = asyncio.create_task(call(lanes, Gate()))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        lanes.follow(limits(heard_at=NOW + timedelta(seconds=1)))
        await asyncio.wait_for(waiting, 1)

    asyncio.run(story())


def test_no_more_calls_than_the_width():
    async def story():
        lanes, gate = joined(width=2), Gate()
        tasks = [asyncio.create_task(call(lanes, gate, 0.01)) for _ in range(9)]
        await asyncio.sleep(0)
        assert lanes.lane(1).in_flight == 2
        await asyncio.gather(*tasks)
        assert lanes.lane(1).in_flight == 0

    asyncio.run(story())


def test_cancelled_waiting_leaves_no_gap():
    async def story():
        lanes, gate = joined(), Gate()
        first = asyncio.create_task(call(lanes, gate, 0.05))
        await asyncio.sleep(0)
        waiting = [asyncio.create_task(call(lanes, gate)) for _ in range(5)]
        await asyncio.sleep(0)
        for task in waiting[:4]:
            task.cancel()
        await asyncio.wait_for(asyncio.gather(first, waiting[4]), 1)
        assert lanes.lane(1).in_flight == 0

    asyncio.run(story())


def test_closed_gate_sends_back_who_waits_for_the_rate(monkeypatch):
    monkeypatch.setattr(subject, "LOOK_S", 0.02)

    async def story():
        lanes, gate = joined(silent_s=600), Gate()
        waiting = asyncio.create_task(call(lanes, gate))
        await asyncio.sleep(0.05)
        gate.is_open = False
        with pytest.raises(GivenBack):
            await asyncio.wait_for(waiting, 1)
        assert lanes.lane(1).in_flight == 0

    asyncio.run(story())


def test_who_waits_for_a_model_that_is_left_to_others_is_sent_back():
    async def story():
        lanes, gate = joined(), Gate()
        first = asyncio.create_task(call(lanes, gate, 0.05))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(call(lanes, gate))
        await asyncio.sleep(0)
        lanes.follow(limits(width=0))
        with pytest.raises(GivenBack):
            await waiting
        await first

    asyncio.run(story())


def test_calls_per_minute_are_begun_no_faster(monkeypatch):
    monkeypatch.setattr(subject, "MINUTE_S", 0.3)
    monkeypatch.setattr(subject, "LOOK_S", 0.01)

    async def story():
        lanes, gate = joined(width=50, per_minute=3), Gate()
        begun = asyncio.get_running_loop().time()
        await asyncio.gather(*(call(lanes, gate) for _ in range(7)))
        assert asyncio.get_running_loop().time() - begun >= 0.6  # 3 at 0, 3 at 0.3, 1 at 0.6

    asyncio.run(story())


def test_idle_model_is_left_to_the_others_but_its_calls_still_count(monkeypatch):
    monkeypatch.setattr(subject, "IDLE_S", -1.0)

    async def story():
        lanes = joined()
        await call(lanes, Gate())
        lanes.lane(1).needed_at = 0.0
        assert lanes.uses() == {"1": {"since": None, "in_flight": 0, "sent": 1}}
        assert lanes.unannounced() == []
        lanes.need([1])
        assert len(lanes.unannounced()) == 1

    asyncio.run(story())
