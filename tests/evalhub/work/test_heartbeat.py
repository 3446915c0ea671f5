"""A worker tells the others what it uses, and hears what they use."""

import asyncio

import pytest

from evalhub.work import leases
from evalhub.work.database import Database
from evalhub.work.heartbeat import Heartbeat
from evalhub.work.limits.rate_limiter import RateLimiters
from tests.factories import make_model

pytestmark = pytest.mark.django_db(transaction=True)


async def announced(model, database):
    """The heartbeat of a new worker that has announced its use of a model."""
    worker = await database(leases.register)
    own = Heartbeat(database, worker, RateLimiters(), {}, None, asyncio.Event())
    own.limiters.need([model])
    await own.announce()
    return own


def test_worker_that_hears_of_a_new_one_lets_it_begin_at_once():
    model = make_model().pk

    async def story():
        database = Database()
        first, second = [await announced(model, database) for _ in range(2)]
        began = [one.limiters.limiter(model).is_joined for one in (first, second)]
        await first.announce_use(if_shared=True)
        await second.follow()
        await database.close()
        return began, second.limiters.limiter(model).is_joined

    assert asyncio.run(story()) == ([True, False], True)


def test_worker_alone_with_a_model_tells_nobody_between_its_beats():
    model = make_model().pk

    async def story():
        database = Database()
        own = await announced(model, database)
        await database(own.worker.refresh_from_db)
        before = own.worker.beat_at
        await own.announce_use(if_shared=True)
        await database(own.worker.refresh_from_db)
        await database.close()
        return before == own.worker.beat_at

    assert asyncio.run(story())
