"""The division of a model's limits among workers, and the effect of a 429 on them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from evalhub.models import SharedRate
from evalhub.values import clock
from evalhub.work.limits import shared_rate
from evalhub.work.limits.shared_rate import cut, part_of, read_shared, share_now
from evalhub.work.models import Worker
from tests.factories import make_model

pytestmark = pytest.mark.django_db

ME = 0
"""No worker's id."""


def worker(*, ago_s=0.0, stopped=False, **uses):
    """A worker last heard of so long ago; uses are {"m12": (since, in flight, sent)}."""
    at = clock.now() - timedelta(seconds=ago_s)
    told = {
        name[1:]: {"since": since, "in_flight": in_flight, "sent": sent}
        for name, (since, in_flight, sent) in uses.items()
    }
    return Worker.objects.create(
        name=f"w{Worker.objects.count()}",
        started_at=at,
        beat_at=at,
        models_in_use=told,
        stopped_at=at if stopped else None,
    )


def shared(model, since=None):
    return read_shared({model.pk: since}, ME)[model.pk]


@given(some.integers(1, 200), some.integers(1, 20))
def test_parts_of_all_come_to_the_limit(total, workers):
    ranks = {worker: worker for worker in range(workers)}
    assert sum(part_of(total, ranks, worker, {}) for worker in ranks) == total


class Sharing:
    """Workers that divide a limit by what they last read of each other, as slowly as they like."""

    def __init__(self, total):
        self.total = total
        self.in_flight, self.told, self.parts = [], [], []

    def join(self):
        """One more; calls only after all others have told anew, and know of it."""
        self.in_flight.append(0)
        self.told.append(0)
        self.parts.append(0)
        for worker in range(len(self.in_flight)):
            self.read(worker)
            self.tell(worker)
        self.read(len(self.in_flight) - 1)

    def read(self, worker):
        ranks = {one: one for one in range(len(self.told))}
        others = {one: used for one, used in enumerate(self.told) if one != worker}
        self.parts[worker] = part_of(self.total, ranks, worker, others)

    def tell(self, worker):
        self.told[worker] = self.in_flight[worker]

    def begin(self, worker):
        self.in_flight[worker] = max(self.in_flight[worker], self.parts[worker])

    def end(self, worker):
        self.in_flight[worker] -= self.in_flight[worker] > 0


acts = some.sampled_from([Sharing.read, Sharing.tell, Sharing.begin, Sharing.end, Sharing.end])


@given(
    some.integers(1, 12),
    some.lists(some.tuples(acts, some.integers(0, 4)), max_size=60),
    some.lists(some.integers(0, 60), max_size=4),
)
def test_no_more_than_the_limit_is_in_flight_however_late_workers_hear(total, steps, joins):
    sharing = Sharing(total)
    sharing.join()
    for number, (act, worker) in enumerate(steps):
        if number in joins:
            sharing.join()
        act(sharing, worker % len(sharing.in_flight))
        assert sum(sharing.in_flight) <= total


def test_all_of_a_model_is_for_its_only_worker():
    assert shared(make_model(max_concurrency=7)).width == 7


def test_limit_of_one_stays_with_who_came_first():
    model = make_model(max_concurrency=1)
    worker(**{f"m{model.pk}": ("2026-01-02", 0, 0)})
    assert shared(model).width == 0
    assert shared(model, since="2026-01-01").width == 1


@pytest.mark.parametrize("fields", [{"stopped": True}, {"ago_s": 50}])
def test_dead_and_stopped_workers_have_no_part(fields):
    model = make_model(max_concurrency=4, requests_per_minute=None)
    worker(**fields, **{f"m{model.pk}": ("2026-01-01", 3, 0)})
    assert shared(model).width == 4


def test_worker_that_left_a_model_has_no_part_of_it():
    model = make_model(max_concurrency=4)
    worker(**{f"m{model.pk}": (None, 0, 0)})
    assert shared(model).width == 4


def test_calls_of_a_stopped_worker_count_for_their_minute():
    model = make_model(requests_per_minute=10)
    worker(stopped=True, **{f"m{model.pk}": (None, 0, 4)})
    worker(stopped=True, ago_s=70, **{f"m{model.pk}": (None, 0, 4)})
    assert shared(model).per_minute == 6


def test_limits_are_the_models_own_at_the_time():
    model = make_model(max_concurrency=4)
    model.max_concurrency = 2
    model.requests_per_minute = 3
    model.save()
    assert (shared(model).width, shared(model).per_minute) == (2, 3)


def test_no_limit_per_minute_is_none_not_zero():
    assert shared(make_model()).per_minute is None


# 429 ---------------------------------------------------------------------------------------------


def test_cut_halves_the_pace_of_all():
    model = make_model(max_concurrency=8, requests_per_minute=60)
    cut(model.pk, None)
    assert (shared(model).width, shared(model).per_minute) == (4, 30)


def test_many_429s_within_ten_seconds_cut_once():
    model = make_model(max_concurrency=8)
    for _ in range(5):
        cut(model.pk, None)
    assert SharedRate.objects.get().share == 0.5


def test_pace_is_cut_again_after_ten_seconds():
    model = make_model(max_concurrency=8)
    cut(model.pk, None)
    SharedRate.objects.update(cut_at=clock.ago(10.1))
    cut(model.pk, None)
    assert SharedRate.objects.get().share == pytest.approx(0.25 * 2 ** (10.1 / 60), rel=0.01)


def test_provider_that_always_refuses_is_asked_at_the_least_pace_in_the_end():
    model = make_model()
    for _ in range(12):
        cut(model.pk, None)
        SharedRate.objects.update(cut_at=clock.ago(10.1))
    assert SharedRate.objects.get().share == shared_rate.MIN_SHARE


@pytest.mark.parametrize(("since_s", "share"), [(0, 0.25), (60, 0.5), (120, 1.0), (100_000, 1.0)])
def test_pace_grows_back_by_itself(since_s, share):
    now = clock.now()
    after_cut = SharedRate(share=0.25, cut_at=now - timedelta(seconds=since_s))
    assert share_now(after_cut, now) == pytest.approx(share)


def test_retry_after_silences_all_until_then():
    model = make_model()
    cut(model.pk, 30.0)
    assert shared(model).paused_s == pytest.approx(30, abs=1)


def test_shorter_retry_after_does_not_end_a_longer_silence():
    model = make_model()
    cut(model.pk, 30.0)
    cut(model.pk, 2.0)
    assert shared(model).paused_s > 25


def test_absurd_retry_after_does_not_silence_a_model_for_days():
    model = make_model()
    cut(model.pk, 1e6)
    assert shared(model).paused_s <= 900
