"""Claiming, giving back and freeing items, on the rows of a run."""

import os
import subprocess
import sys
from datetime import timedelta

import pytest
from django.db import OperationalError

from evalhub.models import BatchState, ItemState, Worker
from evalhub.values import clock
from evalhub.work import batches, leases
from evalhub.work.kinds import kinds
from evalhub.work.models import LEASE_S
from evalhub.work.processes import process_identity
from runs.models import Run
from tests.factories import make_jury, make_model, make_run, make_test

pytestmark = pytest.mark.django_db(transaction=True)
ANSWERING, JUDGING, *_ = kinds()


def run_of(n):
    return make_run(*[make_test(f"Question {k}") for k in range(n)])


def claim(run, worker, most=50, *, alone=False):
    return leases.claim(ANSWERING, run.pk, worker, most, alone=alone)


def rows(run, *fields):
    return list(run.results.order_by("pk").values_list(*fields))


def test_item_is_claimed_once():
    run, one, two = run_of(3), leases.register(), leases.register()
    first, second = claim(run, one, 2), claim(run, two)
    assert len(first.item_ids) == 2
    assert len(second.item_ids) == 1
    assert not set(first.item_ids) & set(second.item_ids)


def test_batch_is_ending_once_no_more_than_the_last_are_left():
    run, worker = run_of(5), leases.register()

    def is_ending(most):
        return leases.claim(ANSWERING, run.pk, worker, most, alone=True, last=2).is_ending

    assert [is_ending(2), is_ending(1), is_ending(2)] == [False, True, True]


def test_attempts_rise_at_a_claim_and_are_given_back_on_orderly_release():
    run, worker = run_of(1), leases.register()
    (item,) = claim(run, worker).item_ids
    assert rows(run, "attempts", "worker") == [(1, worker.pk)]
    batches.give_back(ANSWERING, [item], worker)
    assert rows(run, "attempts", "worker") == [(0, None)]


def test_item_to_be_tried_later_is_not_claimed_before():
    run, worker = run_of(1), leases.register()
    (item,) = claim(run, worker).item_ids
    batches.give_back(ANSWERING, [item], worker, 60)
    assert claim(run, worker).item_ids == []
    run.results.update(next_try_at=clock.now() - timedelta(seconds=1))
    assert claim(run, worker).item_ids == [item]


def test_giving_back_what_another_worker_holds_changes_nothing():
    run, one, two = run_of(1), leases.register(), leases.register()
    (item,) = claim(run, one).item_ids
    batches.give_back(ANSWERING, [item], two)
    assert rows(run, "attempts", "worker") == [(1, one.pk)]


@pytest.mark.parametrize("state", sorted(set(BatchState) - {BatchState.LIVE}))
def test_nothing_is_claimed_of_a_batch_that_does_not_live(state):
    run = run_of(1)
    Run.objects.filter(pk=run.pk).update(state=state)
    assert claim(run, leases.register()).item_ids == []


def test_judge_run_waits_for_the_answer():
    run = make_run(jury=make_jury(make_model()))
    judge_run = run.judge_runs.get()
    assert leases.claim(JUDGING, judge_run.pk, leases.register(), 9, alone=True).item_ids == []


def test_suspect_is_left_while_the_process_holds_something():
    run, worker = run_of(2), leases.register()
    run.results.update(attempts=2)
    assert claim(run, worker).item_ids == []
    alone = claim(run, worker, alone=True)
    assert len(alone.item_ids) == 1
    assert alone.is_suspect


def test_suspect_comes_after_what_is_not_suspicious():
    run, worker = run_of(2), leases.register()
    run.results.filter(pk=rows(run, "pk")[0][0]).update(attempts=2)
    assert claim(run, worker, alone=True).item_ids == [rows(run, "pk")[1][0]]


def test_sign_off_gives_back_all_with_its_attempts():
    run, worker = run_of(2), leases.register()
    claim(run, worker)
    leases.sign_off(worker, {})
    assert rows(run, "attempts", "worker") == [(0, None)] * 2
    worker.refresh_from_db()
    assert worker.stopped_at is not None


class Watching:
    """An observer that looks every two seconds of a clock that stands still in between."""

    def __init__(self):
        self.seconds = 0.0
        self.observer = leases.Observer(lambda: self.seconds)

    def look(self, seconds, *beating):
        """Look for so long, while these workers beat. Return how many were found dead."""
        found, end = 0, self.seconds + seconds
        while self.seconds < end:
            for worker in beating:
                leases.beat(worker, clock.now(), {})
            found += self.observer.reap()
            self.seconds += 2
        return found


def test_observer_frees_items_of_dead_workers_only():
    run, dead, alive = run_of(2), leases.register(), leases.register()
    claim(run, dead, 1)
    claim(run, alive, 1)
    assert Watching().look(LEASE_S + 4, alive) == 1
    assert rows(run, "attempts", "worker") == [(1, None), (1, alive.pk)]


@pytest.mark.parametrize("hours", [-1, 1])
def test_worker_whose_clock_is_set_otherwise_is_not_dead(hours):
    """As in another process on SQLite, or before the clock of PostgreSQL's machine was set."""
    worker, watching = leases.register(), Watching()
    for second in range(0, int(LEASE_S) * 2, 2):
        leases.beat(worker, clock.ago(hours * 3600 - second), {})
        assert watching.look(2) == 0


def test_silence_counts_only_after_the_observer_was_well_for_a_lease():
    run, worker = run_of(1), leases.register()
    claim(run, worker)
    Worker.objects.filter(pk=worker.pk).update(beat_at=clock.ago(60))
    assert Watching().look(LEASE_S / 2) == 0
    assert rows(run, "worker") == [(worker.pk,)]


def test_observer_that_slept_believes_no_silence():
    leases.register()
    watching = Watching()
    watching.look(LEASE_S / 2)
    watching.seconds += LEASE_S
    assert watching.look(LEASE_S / 2) == 0
    assert watching.look(LEASE_S) == 1


def test_observer_that_met_an_outage_believes_no_silence(monkeypatch):
    leases.register()
    watching = Watching()
    with monkeypatch.context() as patch:
        patch.setattr(leases, "free", refuse)
        with pytest.raises(OperationalError):
            watching.look(LEASE_S + 4)
    assert watching.look(LEASE_S / 2) == 0


def refuse(*args):
    raise OperationalError("cannot execute UPDATE in a read-only transaction")


def test_worker_that_has_beaten_since_it_was_found_silent_keeps_its_items():
    """As one that wakes up while its rows are being freed."""
    run, worker = run_of(1), leases.register()
    claim(run, worker)
    leases.beat(worker, clock.now() + timedelta(milliseconds=1), {})
    assert leases.free([worker]) == 0
    assert rows(run, "worker") == [(worker.pk,)]


def test_worker_whose_process_is_gone_is_dead_at_once():
    run, dead, alive = run_of(2), leases.register(), leases.register()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    process = process_identity.identity(ended.pid)
    ended.wait()
    Worker.objects.filter(pk=dead.pk).update(process=process)
    claim(run, dead, 1)
    claim(run, alive, 1)
    assert leases.Observer().reap() == 1
    assert rows(run, "worker") == [(None,), (alive.pk,)]


def test_worker_elsewhere_with_the_same_name_and_process_id_is_not_dead():
    """As in two containers of one host name: another machine or process namespace."""
    machine, namespace, user, _, start = process_identity.identity(os.getpid()).split()
    gone = ["4194303", start]
    assert process_identity.has_ended(" ".join([machine, namespace, user, *gone]))
    assert not process_identity.has_ended(" ".join(["another", namespace, user, *gone]))
    assert not process_identity.has_ended(" ".join([machine, "pid:[1]", user, *gone]))
    assert not process_identity.has_ended("host 4194303")


def test_names_of_workers_are_unique():
    assert leases.register().name != leases.register().name


def test_what_nobody_does_is_given_back_and_what_is_lost_is_told():
    run, worker, other = run_of(4), leases.register(), leases.register()
    done_here, forgotten, taken, done_there = claim(run, worker).item_ids
    run.results.filter(pk=taken).update(worker=other)
    run.results.filter(pk=done_there).update(worker=None, state=ItemState.DONE)

    lost = leases.reconcile(worker, {ANSWERING: {done_here, taken, done_there}})

    assert lost[ANSWERING] == {taken, done_there}
    assert rows(run, "pk", "attempts", "worker") == [
        (done_here, 1, worker.pk),
        (forgotten, 0, None),
        (taken, 1, other.pk),
        (done_there, 1, None),
    ]


def test_worker_amid_a_claim_releases_nothing_and_learns_what_it_lost():
    run, worker, other = run_of(2), leases.register(), leases.register()
    claimed, taken = claim(run, worker).item_ids
    run.results.filter(pk=taken).update(worker=other)

    lost = leases.reconcile(worker, {ANSWERING: {taken}}, is_claiming=True)

    assert lost[ANSWERING] == {taken}
    assert rows(run, "pk", "worker") == [(claimed, worker.pk), (taken, other.pk)]


def test_reaper_counts_no_attempt_back():
    """So that work which kills its worker is found out."""
    run = run_of(1)
    for expected in (1, 2):
        worker = leases.register()
        claim(run, worker, alone=True)
        leases.free([worker])
        assert rows(run, "attempts") == [(expected,)]


def test_heartbeat_of_a_worker_taken_for_dead_revives_it_without_its_items():
    run, worker = run_of(1), leases.register()
    claim(run, worker)
    leases.free([worker])
    leases.beat(worker, clock.now(), {})
    worker.refresh_from_db()
    assert worker.stopped_at is None
    assert rows(run, "worker") == [(None,)]


def test_work_that_waits_for_its_next_try_is_no_work_now():
    run = run_of(1)
    run.judge_runs.all().delete()
    run.results.update(next_try_at=clock.now() + timedelta(seconds=60))
    assert not leases.is_work_waiting()
    assert batches.is_anything_left()


def test_item_failed_after_its_lease_was_lost_stays_with_its_new_worker():
    run = make_run(jury=make_jury(make_model()))
    old, new = leases.register(), leases.register()
    (item,) = claim(run, old).item_ids
    leases.free([old])
    run.results.update(worker=new)

    batches.fail_item(ANSWERING, item, old, "too late")

    assert rows(run, "state", "worker") == [(ItemState.PENDING, new.pk)]
    assert run.judge_runs.get().result_scores.get().state == ItemState.PENDING
