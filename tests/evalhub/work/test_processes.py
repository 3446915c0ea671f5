"""Worker processes: their tasks, the reaper, restarts, and the worker command."""

import os
import time
from datetime import timedelta
from functools import partial
from multiprocessing import Process

import pytest
from django.utils import timezone
from django.utils.module_loading import import_string
from django_q.brokers import get_broker
from django_q.models import OrmQ
from django_q.tasks import async_task

from evalhub.models import BatchState, Worker
from evalhub.values import clock
from evalhub.work import leases
from evalhub.work.models import LEASE_S, FinishedTask
from evalhub.work.processes import parent_watch, process_identity, reaper
from evalhub.work.processes.queue import MAX_TASKS, TASK, enqueue_task, is_task_waiting
from evalhub.work.processes.queue_worker import (
    Stop,
    next_task,
    perform,
    release_dead,
    work_on_tasks,
)
from evalhub.work.processes.reaper import Reaper
from runs.models import Run
from tests.evalhub.work.processes import running
from tests.factories import first_result, make_issue, make_jury, make_model, make_run, make_test
from tests.provider import Provider

pytestmark = pytest.mark.django_db

IDLE, BUSY = 0, 7


def lock_tasks() -> None:
    """Lock every task, as its worker does."""
    OrmQ.objects.update(lock=timezone.now() + timedelta(hours=1))


# Tasks -------------------------------------------------------------------------------------------


def test_tasks_in_progress_do_not_count_as_waiting():
    for _ in range(MAX_TASKS):
        assert enqueue_task()
    assert not enqueue_task()

    lock_tasks()

    assert not is_task_waiting()
    assert enqueue_task()


def test_a_process_holds_the_task_that_it_takes():
    enqueue_task()
    numbers = [0, 0]

    task = next_task(get_broker(), partial(numbers.__setitem__, 1))

    assert task
    assert task["func"] == TASK
    assert numbers == [0, OrmQ.objects.get().pk]
    assert not is_task_waiting()


def test_a_task_with_a_wrong_signature_is_dropped():
    enqueue_task()
    OrmQ.objects.update(payload="forged:signature")
    numbers = [0]

    assert next_task(get_broker(), partial(numbers.__setitem__, 0)) is None

    assert numbers == [0]
    assert not OrmQ.objects.exists()


@pytest.mark.parametrize(
    ("func", "options"),
    [
        ("os.system", {}),
        (TASK, {"hook": "os.system"}),
        (TASK, {"q_options": {"hook": "os.system"}}),
    ],
)
def test_a_task_that_names_another_function_is_dropped(func, options, caplog):
    async_task(func, **options)
    numbers = [0]

    assert next_task(get_broker(), partial(numbers.__setitem__, 0)) is None

    assert numbers == [0]
    assert not OrmQ.objects.exists()
    assert func in caplog.text


def test_no_task_is_taken_after_a_stop():
    enqueue_task()
    stop = Stop()
    stop.requested = True

    work_on_tasks([].append, stop)

    assert is_task_waiting()


def taken(**changes):
    """A task that a process has just taken, and the number by which the process holds it."""
    enqueue_task()
    numbers = [0]
    task = next_task(get_broker(), partial(numbers.__setitem__, 0))
    assert task
    return task | changes, numbers


@pytest.mark.django_db(transaction=True)
def test_a_finished_task_is_saved_and_leaves_the_queue():
    task, numbers = taken(func=f"{__name__}.note")

    assert perform(task, get_broker(), partial(numbers.__setitem__, 0)) == (True, False)

    assert FinishedTask.objects.get().name == task["name"]
    assert not OrmQ.objects.exists()
    assert numbers == [0]


@pytest.mark.django_db(transaction=True)
def test_a_failed_task_is_saved_with_its_error_and_leaves_the_queue():
    task, numbers = taken(func=f"{__name__}.fail")

    assert perform(task, get_broker(), partial(numbers.__setitem__, 0)) == (False, False)

    finished = FinishedTask.objects.get()
    assert (finished.succeeded, "on purpose" in finished.detail) == (False, True)
    assert not OrmQ.objects.exists()
    assert numbers == [0]


def sleep() -> None:
    time.sleep(30)


@pytest.mark.django_db(transaction=True)
def test_a_process_whose_task_timed_out_takes_no_other():
    task, numbers = taken(func=f"{__name__}.sleep", timeout=1)

    assert perform(task, get_broker(), partial(numbers.__setitem__, 0)) == (False, True)


def test_a_successor_frees_what_the_dead_one_held():
    result = first_result(make_run())
    alive, dead = leases.register(), leases.register()
    gone = process_identity.identity(os.getpid()).rsplit(maxsplit=2)[0] + " 4194303 1"
    Worker.objects.filter(pk=dead.pk).update(process=gone)
    type(result).objects.update(worker=dead)
    enqueue_task()
    lock_tasks()

    release_dead(OrmQ.objects.get().pk)

    result.refresh_from_db()
    assert result.worker is None
    assert is_task_waiting()
    assert list(Worker.objects.filter(stopped_at=None)) == [alive]


# The reaper --------------------------------------------------------------------------------------


def test_the_reaper_asks_for_one_worker_while_work_waits():
    make_run()
    watching = Reaper([IDLE, BUSY], [0, 0])

    for now in (0.0, 2.0, 4.0, 60.0):
        watching.ask_for_worker(now)

    assert OrmQ.objects.count() == 1


def test_the_reaper_asks_ever_more_rarely_when_asking_does_not_help():
    make_run()
    watching = Reaper([IDLE], [0])

    asked_at = []
    for now in range(0, 200, 2):
        watching.ask_for_worker(float(now))
        if is_task_waiting():
            asked_at.append(now)
            OrmQ.objects.all().delete()

    # Pauses of 3, 6, 12, 24, 48, 60 s, met at the next look.
    assert asked_at == [0, 4, 10, 22, 46, 94, 154]


@pytest.mark.parametrize("current_tasks", [[BUSY], [BUSY, BUSY]])
def test_the_reaper_asks_nobody_when_all_are_busy(current_tasks):
    make_run()
    Reaper(current_tasks, [0] * len(current_tasks)).ask_for_worker(0.0)
    assert not OrmQ.objects.exists()


def test_the_reaper_asks_nobody_when_nothing_can_be_done():
    make_run(state=BatchState.PAUSED)
    Reaper([IDLE], [0]).ask_for_worker(0.0)
    assert not OrmQ.objects.exists()


def worker_taken_for_dead(pid: int) -> Worker:
    worker = leases.register()
    then = clock.ago(LEASE_S + 1)
    rows = Worker.objects.filter(pk=worker.pk)
    rows.update(process=process_identity.identity(pid), beat_at=then, stopped_at=clock.now())
    return worker


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    pids: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: pids.append(pid))
    return pids


def reaper_of(*pids: int, task: int = BUSY) -> Reaper:
    """A reaper that was well for a lease, of a cluster with these processes."""
    found = Reaper([task] * len(pids), pids)
    found.observer.well_since -= LEASE_S + 1
    return found


def test_the_reaper_kills_a_process_that_lives_and_stays_silent(killed):
    worker_taken_for_dead(os.getpid())
    worker_taken_for_dead(os.getppid())  # of another cluster
    watching = reaper_of(os.getpid())

    watching.end_stuck(0.0)
    watching.end_stuck(LEASE_S)
    assert killed == []

    watching.end_stuck(LEASE_S + 1)
    assert killed == [os.getpid()]


def test_the_reaper_spares_a_process_that_is_heard_of_again(killed):
    worker = worker_taken_for_dead(os.getpid())
    watching = reaper_of(os.getpid())

    watching.end_stuck(0.0)
    leases.beat(worker, clock.now(), {})
    watching.end_stuck(2.0)
    watching.end_stuck(LEASE_S + 1)

    assert killed == []


@pytest.mark.parametrize("reason", ["idle", "outage"])
def test_the_reaper_spares_a_process_that_is_idle_or_met_an_outage(killed, reason):
    worker_taken_for_dead(os.getpid())
    watching = reaper_of(os.getpid(), task=IDLE if reason == "idle" else BUSY)
    watching.end_stuck(0.0)
    if reason == "outage":
        watching.observer.well_since += LEASE_S
    watching.end_stuck(LEASE_S + 1)
    assert killed == []


calls: list[str] = []


def note() -> None:
    calls.append("called")


def fail() -> None:
    raise RuntimeError("on purpose")


def test_what_fails_every_minute_keeps_nothing_else_from_being_done(settings):
    settings.EVALHUB_EVERY_MINUTE = ["gone.nowhere", f"{__name__}.fail", f"{__name__}.note"]
    calls.clear()

    reaper.every_minute()

    assert calls == ["called"]


def test_what_is_called_every_minute_can_be_imported(settings):
    for path in settings.EVALHUB_EVERY_MINUTE:
        assert callable(import_string(path))


# Replacing ---------------------------------------------------------------------------------------


def test_the_dead_are_replaced_at_once_and_those_who_die_young_ever_later(monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    restarts = parent_watch.Restarts()
    pauses = []
    for _ in range(9):
        restarts.started()
        restarts.died()
        pauses.append(restarts.not_before - now)
    assert pauses == [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]

    restarts.started()
    now += parent_watch.GROWN_UP_S + 1
    restarts.died()
    assert restarts.is_due


def sleep_with(parent: int) -> None:
    parent_watch.die_with(parent)
    time.sleep(60)


def test_a_process_whose_parent_has_died_before_it_was_tied_ends():
    orphan = Process(target=sleep_with, args=(os.getppid(),))  # not its parent
    orphan.start()
    orphan.join(5)
    assert orphan.exitcode == 1


# The command -------------------------------------------------------------------------------------


@pytest.mark.both_engines
@pytest.mark.kill
@pytest.mark.django_db(transaction=True)
def test_worker_once_does_what_is_there_and_ends(tmp_path, database_url):
    with Provider() as provider:
        models = [make_model(api_base=provider.base_url) for _ in range(2)]
        tests = [make_test(f"What is {n} + 2?", issue=make_issue()) for n in range(4)]
        run = make_run(*tests, model=models[0], jury=make_jury(models[1]))
        with running(
            tmp_path / "log",
            *("manage.py", "worker", "--once"),
            DATABASE_URL=database_url,
            EVALHUB_ALLOWED_ADDRESSES="127.0.0.1",
        ) as command:
            assert command.wait(60) == 0

    assert Run.objects.get(pk=run.pk).state == BatchState.DONE
    assert run.judge_runs.get().state == BatchState.DONE
    assert provider.total == 8
    assert not OrmQ.objects.exists()
    assert FinishedTask.objects.filter(succeeded=True).exists()
