"""Processes killed, stopped, replaced and confused: each function makes one fault and ends it."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from tests.chaos.databases import Postgres
from tests.evalhub.work.processes import eventually, family, kill

if TYPE_CHECKING:
    from tests.chaos.site import Site

LEASES_BEYOND = 1.4
STOP_WITHIN_S = 8.0
NOTICE_S = 1
"""Time in which a worker must see that it cannot save any more."""

WAKE_S = 5
"""Time for processes that wake up to make a call that they must not make."""

CLOCK_AHEAD_S = 12
RELATIVE_SLEEP = """
import select, time
time.sleep = lambda seconds: select.select([], [], [], seconds)
"""
"""For Python, whose own sleep ends at a point in time, which libfaketime gets wrong."""

CONTAINER = ("unshare", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc")
NAMED = (*CONTAINER, "sh", "-c", 'hostname vm; exec "$@"', "sh")


def start_one(site: Site) -> None:
    site.start()


def start_two(site: Site) -> None:
    site.start(workers=2)


def start_site(site: Site) -> None:
    """The whole site as `manage.py serve` runs it, web server included."""
    from evalhub.work.processes.programs import next_free

    site.start("serve", "--port", str(next_free("127.0.0.1", 8000)))


def start_and_kill_idle(site: Site) -> None:
    tree = site.start(workers=2)
    site.kill([site.worker(tree, "idle")])
    site.ended_at = time.monotonic()


def start_again(site: Site) -> None:
    """Start another cluster; the fault is over when its processes run."""
    site.worker(site.start(), "worker-0")
    site.ended_at = time.monotonic()


def nothing(site: Site) -> None:
    """The fault was made before the launch."""


def kill_worker(site: Site) -> None:
    site.kill([site.worker(site.trees[0])])


def kill_parent(site: Site) -> None:
    """The others must die with it; then another cluster is started."""
    parent, *others = family(site.trees[0].pid)
    site.kill([parent], others)
    start_again(site)


def kill_everything(site: Site) -> None:
    database = site.database
    site.kill(family(site.trees[0].pid))
    if isinstance(database, Postgres):
        database.stop(signal.SIGQUIT)
        database.start()
    start_again(site)


def stop_beyond_lease(site: Site) -> None:
    """A second cluster takes over; then the first wakes up."""
    pids = family(site.trees[0].pid)
    site.freeze(pids)
    site.note_in_flight()
    site.start()
    time.sleep(LEASES_BEYOND * settings.EVALHUB_LEASE_S)
    for pid in pids:
        kill(pid, signal.SIGCONT)
    site.ended_at = time.monotonic()
    time.sleep(WAKE_S)


def deploy(site: Site) -> None:
    """SIGTERM, and start again."""
    end(site)
    if leased := site.read(site.leased):
        site.problems.append(f"{leased} items left leased")
    start_again(site)


def deploy_in_outage(site: Site) -> None:
    with site.database.down():
        time.sleep(2)
        end(site)
    start_again(site)


def end(site: Site) -> None:
    tree = site.trees[-1]
    pids = family(tree.pid)
    tree.terminate()
    site.expect_gone(pids, STOP_WITHIN_S)
    if status := tree.poll():
        site.problems.append(f"the command ended with {status}")


def add_nullable(site: Site) -> None:
    with site.column(null=True):
        time.sleep(5)


def add_unknown(site: Site) -> None:
    """What `migrate` of a newer version does to workers of an older one, which is then started.

    Calls in flight when the schema changes cannot be saved with it, and may be made again.
    """
    with site.column(null=False):
        time.sleep(NOTICE_S)
        site.note_in_flight()
        time.sleep(10)
        end(site)
    start_again(site)


# Machines ----------------------------------------------------------------------------------------


def fake_clock(folder: Path) -> dict[str, str]:
    """The environment of a process whose clock runs as a file in this folder says."""
    file = folder / "clock"
    file.write_text("+0")
    file.chmod(0o644)
    (folder / "sitecustomize.py").write_text(RELATIVE_SLEEP)
    return {
        "PYTHONPATH": str(folder),
        "LD_PRELOAD": str(next(iter(faketime()), "")),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


def faketime() -> list[Path]:
    return sorted(Path("/usr/lib").glob("**/faketime/libfaketimeMT.so.1"))


def start_with_clock(site: Site) -> None:
    """PostgreSQL's clock is moved; on SQLite, where each process has its own, a second tree's."""
    site.start()
    clock = fake_clock(site.database.folder)
    if isinstance(site.database, Postgres):
        site.database.stop()
        site.database.environment |= clock
        site.database.start()
    else:
        site.start(**clock)


def move_clock(site: Site) -> None:
    clock = site.database.folder / "clock"
    clock.write_text("+3600")
    time.sleep(CLOCK_AHEAD_S)
    clock.write_text("+0")


def start_containers(site: Site) -> None:
    """Start two; the second is asleep at first, so that it is known which worker is whose."""
    first, second = site.start(before=NAMED), site.start(before=NAMED)
    site.worker(first, "idle")
    site.worker(second, "idle")
    site.freeze(family(second.pid))


def kill_in_container(site: Site) -> None:
    """The worker of one container dies; that of the other has its host name and process id."""
    (mine,) = site.read(site.workers)
    for pid in family(site.trees[1].pid):
        kill(pid, signal.SIGCONT)
    site.ask_for_worker()  # at once: the run is short
    eventually(lambda: any(map(site.leased_to, site.read(site.workers)[1:])), "a second worker")
    pid = site.worker(site.trees[0])
    site.freeze([pid])
    site.note_killed(site.leased_to(mine))
    kill(pid, signal.SIGKILL)
