"""Programs that run as one: what dies is started again, and all end together."""

import io
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evalhub.work.processes import supervisor
from evalhub.work.processes.supervisor import CannotStart, Program, Supervisor
from tests.evalhub.work import processes
from tests.evalhub.work.processes import eventually, running


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

    with pytest.raises(CannotStart, match="bad exited with status 3"):
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
        "short exited with status 0. Restarting it.",
        "short | hello",
    ]


@pytest.mark.usefixtures("_signals")
def test_a_program_that_will_not_end_is_killed_with_all_that_it_started(monkeypatch):
    monkeypatch.setattr(supervisor, "STOP_WITHIN_S", 0.5)
    script = (
        "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.fork();"
        "print(os.getsid(0)); time.sleep(900)"
    )
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        if len(said) == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    Supervisor([Program("stubborn", ("-c", script))], say).run(lambda: None)

    leader = int(said[0].rpartition(" ")[2])
    assert eventually(lambda: not processes.session(leader), "the end of the stubborn")


# The command -------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_up_refuses_a_port_that_is_taken():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(CommandError, match=f"Cannot listen on .*:{port}"):
            call_command("serve", "--port", str(port), skip_checks=True, stdout=io.StringIO())


@pytest.fixture
def site(tmp_path: Path, database_url: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """`manage.py serve`, ready, and its address."""
    log = tmp_path / "log"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ("manage.py", "serve", "--port", str(port))
    with running(log, *command, DATABASE_URL=database_url) as process:
        eventually(lambda: "EvalHub is at" in log.read_text(), f"the site, in {log}")
        try:
            yield process, f"http://127.0.0.1:{port}/admin/login/"
        finally:
            for pid in processes.family(process.pid):
                processes.kill(pid)


@pytest.mark.kill
@pytest.mark.django_db(transaction=True)
def test_serve_replaces_what_dies_and_leaves_nothing_when_killed(site):
    process, address = site
    web = next(pid for pid in processes.children(process.pid) if "gunicorn" in processes.title(pid))
    assert b"EvalHub" in processes.get(address)

    os.kill(web, signal.SIGKILL)
    eventually(lambda: web not in processes.children(process.pid), "the death of the web server")
    eventually(lambda: processes.answers(address), "another web server")
    everything = processes.family(process.pid)
    assert len(everything) >= 5  # the supervisor, web and its two workers, the worker's parent

    process.kill()
    eventually(lambda: not processes.living(everything), "the end of all processes")
