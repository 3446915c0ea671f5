"""One row in a process of its own: `python -m tests.chaos.row NAME ENGINE TEMPLATE FOLDER`."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

import django

import tests.environment  # noqa: F401 -- nobody's own settings
from tests.chaos.databases import ENGINES, Database
from tests.chaos.faults import ROWS, Row
from tests.chaos.outcome import Outcome

LEASE = "CHAOS_LEASE_S"
"""The variable that shortens the workers' leases, in seconds."""

WITHIN_S = 400
MIDDLE = 4
"""The fault comes after this part of the calls: one in four."""


def main(name: str, engine: str, template: Path, folder: Path) -> Outcome:
    row = ROWS[name]
    with ExitStack() as stack:
        database = database_of(row, engine, template, folder)
        database.start()
        stack.callback(database.stop)
        os.environ["DATABASE_URL"] = database.url
        os.environ["EVALHUB_DATA_DIR"] = str(folder)
        os.environ["EVALHUB_LEASE_S"] = os.environ.get(LEASE, "20")
        django.setup()
        return perform(row, engine, database, folder, stack)


def database_of(row: Row, engine: str, template: Path, folder: Path) -> Database:
    place = folder / "disk"
    place.mkdir()
    if row.disk_mb:
        size = f"size={row.disk_mb[engine]}m"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(place)], check=True)
    return ENGINES[engine](place, template)


def perform(row: Row, engine: str, database: Database, folder: Path, stack: ExitStack) -> Outcome:
    from tests.chaos.site import WANTED, Site
    from tests.chaos.watch import Watch

    site = Site(database, folder, stack)
    row.start(site)
    stack.enter_context(site.provider)
    site.launch()
    watch = Watch(site)
    site.wait_for_calls(WANTED // MIDDLE)
    row.fault(site)
    site.ended_at = site.ended_at or time.monotonic()
    watch.wait()
    watch.stop()
    repeated = site.repeated()
    beyond = repeated - site.in_flight
    for key in beyond:
        times = [f"{at - site.ended_at:+.2f} s" for at in site.answered_at[key]]
        sys.stderr.write(f"{key} was repeated: answered {', '.join(times)} after the fault\n")
    return Outcome(
        name=row.name,
        engine=engine,
        wanted=WANTED,
        made=site.provider.total,
        lost_work=site.read(site.lost_work),
        lost_replies=site.lost_replies(),
        repeated=repeated.total(),
        in_flight=site.in_flight.total(),
        beyond=beyond.total(),
        stall_s=watch.stall_s(),
        states=watch.states,
        problems=site.problems,
    )


def give_up(number: int, frame: FrameType | None) -> None:
    sys.exit(f"ended by {signal.Signals(number).name}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, give_up)
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(WITHIN_S)
    outcome = main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
    sys.stdout.write(json.dumps(outcome.__dict__))
