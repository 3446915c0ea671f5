"""Who works, and when: tokens, the guard, replacements, and the commands that run a site."""

import io
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta
from multiprocessing import Process
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from django.utils.module_loading import import_string
from django_q.brokers import get_broker
from django_q.models import OrmQ, Success

from evalhub.models import BatchState, Worker
from evalhub.work import clock, guard, leases, lifeline, supervisor
from evalhub.work.guard import Guard
from evalhub.work.queue import MOST_TOKENS, TASK, add_token, is_token_waiting
from evalhub.work.supervisor import CannotStart, Program, Supervisor
from evalhub.work.taking import Hand, Incoming, Stop, replace
from runs.models import Run
from tests.evalhub.work import processes
from tests.evalhub.work.processes import eventually, running, titled
from tests.factories import first_result, make_issue, make_jury, make_model, make_run, make_test
from tests.provider import Provider

IDLE, BUSY = 0, 7


def lock_tokens() -> None:
    """As if each were worked on."""
    OrmQ.objects.update(lock=timezone.now() + timedelta(hours=1))


def incoming(hand: Hand | None = None) -> Incoming:
    return Incoming(get_broker(), hand or Hand([0], 0), Stop())


# Tokens ------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_tokens_that_are_worked_on_do_not_count_as_waiting():
    for _ in range(MOST_TOKENS):
        assert add_token(TASK)
    assert not add_token(TASK)

    lock_tokens()

    assert not is_token_waiting()
    assert add_token(TASK)


@pytest.mark.django_db
def test_a_process_holds_the_token_that_it_takes():
    add_token(TASK)
    numbers = [0, 0]

    task = incoming(Hand(numbers, 1)).get()

    assert isinstance(task, dict)
    assert task["func"] == TASK
    assert numbers == [0, OrmQ.objects.get().pk]
    assert not is_token_waiting()


@pytest.mark.django_db
def test_a_token_with_a_wrong_signature_is_dropped():
    add_token(TASK)
    OrmQ.objects.update(payload="forged:signature")
    numbers = [0]

    assert incoming(Hand(numbers, 0)).next() is None

    assert numbers == [0]
    assert not OrmQ.objects.exists()


@pytest.mark.django_db
def test_no_token_is_taken_after_a_stop():
    add_token(TASK)
    source = incoming()
    source.stop.requested = True

    assert source.get() == "STOP"
    assert is_token_waiting()


@pytest.mark.django_db
def test_a_successor_frees_what_the_dead_one_held():
    result = first_result(make_run())
    now = clock.now()
    dead = Worker.objects.create(name=leases.process_name(4711), started_at=now, beat_at=now)
    alive = Worker.objects.create(name=leases.process_name(4712), started_at=now, beat_at=now)
    type(result).objects.update(worker=dead)
    add_token(TASK)
    lock_tokens()

    replace(4711, OrmQ.objects.get().pk)

    result.refresh_from_db()
    assert result.worker is None
    assert is_token_waiting()
    assert list(Worker.objects.filter(stopped_at=None)) == [alive]


# The guard ---------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_guard_asks_for_one_worker_while_work_waits():
    make_run()
    watching = Guard([IDLE, BUSY])

    for now in (0.0, 2.0, 4.0, 60.0):
        watching.ask_for_worker(now)

    assert OrmQ.objects.count() == 1


@pytest.mark.django_db
def test_the_guard_asks_ever_more_rarely_when_asking_does_not_help():
    make_run()
    watching = Guard([IDLE])

    asked_at = []
    for now in range(0, 200, 2):
        watching.ask_for_worker(float(now))
        if is_token_waiting():
            asked_at.append(now)
            OrmQ.objects.all().delete()

    # Pauses of 3, 6, 12, 24, 48, 60 s, met at the next look.
    assert asked_at == [0, 4, 10, 22, 46, 94, 154]


@pytest.mark.django_db
@pytest.mark.parametrize("hands", [[BUSY], [BUSY, BUSY]])
def test_the_guard_asks_nobody_when_all_are_busy(hands):
    make_run()
    Guard(hands).ask_for_worker(0.0)
    assert not OrmQ.objects.exists()


@pytest.mark.django_db
def test_the_guard_asks_nobody_when_nothing_can_be_done():
    make_run(state=BatchState.PAUSED)
    Guard([IDLE]).ask_for_worker(0.0)
    assert not OrmQ.objects.exists()


calls: list[str] = []


def note() -> None:
    calls.append("called")


def fail() -> None:
    raise RuntimeError("on purpose")


@pytest.mark.django_db
def test_what_fails_every_minute_keeps_nothing_else_from_being_done(settings):
    settings.EVALHUB_EVERY_MINUTE = ["gone.nowhere", f"{__name__}.fail", f"{__name__}.note"]
    calls.clear()

    guard.every_minute()

    assert calls == ["called"]


def test_what_is_called_every_minute_can_be_imported(settings):
    for path in settings.EVALHUB_EVERY_MINUTE:
        assert callable(import_string(path))


# Replacing ---------------------------------------------------------------------------------------


def test_the_dead_are_replaced_at_once_and_those_who_die_young_ever_later(monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    restarts = lifeline.Restarts()
    pauses = []
    for _ in range(9):
        restarts.started()
        restarts.died()
        pauses.append(restarts.not_before - now)
    assert pauses == [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]

    restarts.started()
    now += lifeline.GROWN_UP_S + 1
    restarts.died()
    assert restarts.is_due


def sleep_with(parent: int) -> None:
    lifeline.die_with(parent)
    time.sleep(60)


def test_a_process_whose_parent_has_died_before_it_was_tied_ends():
    orphan = Process(target=sleep_with, args=(os.getppid(),))  # not its parent
    orphan.start()
    orphan.join(5)
    assert orphan.exitcode == 1


# The supervisor ----------------------------------------------------------------------------------


@pytest.fixture
def _signals() -> Iterator[None]:
    """The supervisor listens to signals; afterwards pytest does again."""
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.usefixtures("_signals")
def test_a_program_that_never_starts_is_said_to_be_so():
    said: list[str] = []
    bad = Program("bad", ("-c", "print('no such port'); raise SystemExit(3)"), {}, lambda: False)

    with pytest.raises(CannotStart, match="bad ended with status 3"):
        Supervisor([bad], said.append).run(lambda: None)

    assert said.count("bad | no such port") == 3


@pytest.mark.usefixtures("_signals")
def test_a_program_that_dies_is_started_again():
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        if len([line for line in said if "hello" in line]) == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    Supervisor([Program("short", ("-c", "print('hello')"))], say).run(lambda: None)

    assert said[:3] == [
        "short | hello",
        "short ended with status 0; starting it again.",
        "short | hello",
    ]


@pytest.mark.usefixtures("_signals")
def test_a_program_that_will_not_end_is_killed_with_all_that_it_started(monkeypatch):
    monkeypatch.setattr(supervisor, "STOP_WITHIN_S", 0.5)
    script = (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.fork();"
        "print(os.getsid(0)); time.sleep(60)"
    )
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    Supervisor([Program("stubborn", ("-c", script))], say).run(lambda: None)

    leader = int(said[0].rpartition(" ")[2])
    eventually(lambda: not processes.session(leader), "the end of the stubborn", 2)


# The commands ------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_up_refuses_a_port_that_is_taken():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(CommandError, match=f"cannot listen on port {port}"):
            call_command("up", "--port", str(port), skip_checks=True, stdout=io.StringIO())


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
    assert run.judgings.get().state == BatchState.DONE
    assert provider.total == 8
    assert not OrmQ.objects.exists()
    assert Success.objects.filter(func=TASK).exists()


@pytest.mark.kill
@pytest.mark.django_db(transaction=True)
def test_an_idle_worker_ends_at_once(tmp_path, database_url):
    with running(tmp_path / "log", "manage.py", "worker", DATABASE_URL=database_url) as command:
        eventually(lambda: titled(command.pid, "idle"), "an idle worker")
        command.terminate()
        assert command.wait(4) == 0
        assert processes.session(command.pid) == []


@pytest.fixture
def site(tmp_path: Path, database_url: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """`manage.py up`, ready, and its address."""
    log = tmp_path / "log"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ("manage.py", "up", "--port", str(port))
    with running(log, *command, DATABASE_URL=database_url) as process:
        eventually(lambda: "EvalHub is at" in log.read_text(), f"the site, in {log}")
        try:
            yield process, f"http://127.0.0.1:{port}/admin/login/"
        finally:
            for pid in family(process.pid):
                processes.kill(pid)


def family(pid: int) -> list[int]:
    """A process and all living ones that descend from it."""
    found = [pid]
    for parent in found:
        found += processes.children(parent)
    return [one for one in found if processes.stat(one)[:1] not in ([], ["Z"])]


@pytest.mark.kill
@pytest.mark.django_db(transaction=True)
def test_up_serves_and_replaces_what_dies(site):
    process, address = site
    web = next(pid for pid in processes.children(process.pid) if "gunicorn" in processes.title(pid))
    assert b"EvalHub" in processes.get(address)

    os.kill(web, signal.SIGKILL)

    eventually(lambda: web not in processes.children(process.pid), "the death of the web server")
    eventually(lambda: processes.answers(address), "another web server")
    everything = family(process.pid)
    process.terminate()
    assert process.wait(9) == 0
    assert not any(processes.stat(pid)[:1] not in ([], ["Z"]) for pid in everything)


@pytest.mark.kill
@pytest.mark.django_db(transaction=True)
def test_nothing_outlives_a_supervisor_that_is_killed(site):
    process, _ = site
    everything = family(process.pid)
    assert len(everything) >= 5  # the supervisor, web and its two workers, the worker's parent

    process.kill()

    def is_gone() -> bool:
        return all(processes.stat(pid)[:1] in ([], ["Z"]) for pid in everything)

    eventually(is_gone, "the end of all processes", 3)
