"""How many items a worker claims of a batch."""

import asyncio
from types import SimpleNamespace

import pytest

from evalhub.llm.endpoint import Endpoint
from evalhub.work.batches import LiveBatch
from evalhub.work.limits.rate_limiter import RateLimiters
from evalhub.work.limits.shared_rate import Shared

WIDTH = 8
MODEL = Endpoint(language_model_id=1, name="m", litellm_model="openai/m", max_concurrency=WIDTH)


@pytest.fixture
def limiters():
    found = RateLimiters()
    found.follow({1: Shared(WIDTH, None, 1.0, 0.0, None)})
    return found


def waiting():
    return SimpleNamespace(calls=[], has_replies=False)


def answered():
    return SimpleNamespace(calls=["a call"], has_replies=True)


def in_progress(*callers):
    """A batch with an item in progress for each caller."""
    return LiveBatch(None, endpoints=[MODEL], tasks=dict(enumerate(callers)))


@pytest.mark.parametrize(("is_given_back", "begun_anew"), [(False, []), (True, [7])])
def test_item_that_was_given_back_is_begun_anew(is_given_back, begun_anew):
    """It may be claimed again before its task has ended, and nobody else would do it."""
    caller = SimpleNamespace(item_id=7, is_lost=True, is_given_back=is_given_back)
    assert in_progress(caller).take_again([7]) == begun_anew
    assert caller.is_lost is is_given_back


def test_half_as_many_wait_as_have_a_call_in_flight(limiters):
    assert in_progress().free_slots(limiters) == WIDTH * 3 // 2 + 2


def test_items_that_are_only_saved_keep_no_model_busy(limiters):
    busy = in_progress(*(waiting() for _ in range(10)))
    saving = in_progress(*(answered() for _ in range(10)))
    assert (busy.free_slots(limiters), saving.free_slots(limiters)) == (4, 14)


def test_of_fast_items_as_many_wait_as_end_between_claims(limiters):
    async def story():
        batch = in_progress()
        for _ in range(12):
            batch.start(asyncio.sleep(0), answered())
        await asyncio.gather(*batch.tasks)
        await asyncio.sleep(0)
        batch.claimed()
        assert batch.free_slots(limiters) == WIDTH + 12

    asyncio.run(story())


def test_what_waits_to_be_saved_is_bounded(limiters):
    batch = in_progress(*(answered() for _ in range(4 * WIDTH - 3)))
    assert batch.free_slots(limiters) == 3
    batch = in_progress(*(answered() for _ in range(4 * WIDTH)))
    assert batch.free_slots(limiters) == 0


def test_items_over_the_width_are_given_back_the_newest_first(limiters):
    batch = in_progress(*(waiting() for _ in range(14)))
    limiters.follow({1: Shared(WIDTH // 2, None, 1.0, 0.0, None)})
    assert batch.surplus(limiters) == [13, 12, 11, 10, 9, 8]
