"""`dev.py chaos`: makes each fault in the middle of a real run, and prints what it did.

Ends with 1 where a row misses its bound: nothing lost, nothing repeated but what was in flight in
what died, and progress again within 30 s of the fault's end.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests import environment
from tests.browser import OUTPUT
from tests.chaos.databases import ENGINES, why_no_postgres
from tests.chaos.faults import ALL, ROWS, Row
from tests.chaos.outcome import HEAD, Outcome
from tests.chaos.row import LEASE

SHORT_LEASE_S = "4"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="dev.py chaos", description=__doc__)
    parser.add_argument("--engine", choices=ENGINES, help="on this engine alone")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these faults alone (see --list)")
    parser.add_argument("--list", action="store_true", help="name the faults")
    parser.add_argument("--short", action="store_true", help="the few that are kill tests too")
    options = parser.parse_args(arguments)
    if unknown := set(options.only or ()) - ROWS.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}; --list names the faults")
    rows = [row for row in ALL if row.name in (options.only or ROWS)]
    if options.list:
        print("\n".join(f"{row.name:24}{', '.join(row.engines)}" for row in rows))
        return 0
    environment.clean()
    if options.short:
        os.environ[LEASE] = SHORT_LEASE_S
    engines = [options.engine] if options.engine else list(ENGINES)
    print_line("fault", "engine", HEAD, "state: verdict")
    outcomes = [outcome for engine in engines for outcome in on_engine(engine, rows, options.short)]
    misses = [outcome for outcome in outcomes if outcome.misses]
    not_run = [outcome for outcome in outcomes if outcome.not_run]
    print(f"{len(outcomes)} rows, {len(misses)} missed, {len(not_run)} not run")
    return int(bool(misses))


def on_engine(engine: str, rows: Sequence[Row], short: bool) -> Iterator[Outcome]:
    chosen = [row for row in rows if engine in (row.short if short else row.engines)]
    reasons = {row.name: row.why_not_on(engine) for row in chosen}
    with migrated(engine, all(reasons.values())) as template:
        for row in chosen:
            if reason := reasons[row.name]:
                outcome = Outcome(row.name, engine, not_run=reason)
            else:
                outcome = outcome_of(row, engine, template)
            print_outcome(outcome)
            yield outcome


@contextmanager
def migrated(engine: str, is_unwanted: bool) -> Iterator[Path]:
    """A migrated database in a folder, which every row copies."""
    with tempfile.TemporaryDirectory(prefix="evalhub-chaos-") as name:
        if not is_unwanted and not (engine == "postgres" and why_no_postgres()):
            database = ENGINES[engine](Path(name))
            try:
                database.migrate()
            finally:
                database.stop()
        yield Path(name)


def outcome_of(row: Row, engine: str, template: Path) -> Outcome:
    """Run one row in a process of its own; its logs stay in `test-output/chaos`."""
    logs = OUTPUT / "chaos"
    logs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="evalhub-chaos-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        command = [*row.before, sys.executable, "-m", "tests.chaos.row", row.name, engine]
        log = logs / f"{row.name}-{engine}.log"
        with log.open("w") as errors:
            done = subprocess.run(
                [*command, str(template), name],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                check=False,
            )
        with log.open("a") as kept:
            for file in folder.glob("*.log"):
                kept.write(file.read_text(errors="replace"))
    if done.returncode:
        return Outcome(row.name, engine, problems=[f"the row itself failed: see {log}"])
    return Outcome(**json.loads(done.stdout))


def print_outcome(outcome: Outcome) -> None:
    state = " → ".join(outcome.states)
    cells = [""] * len(HEAD) if outcome.not_run else outcome.cells
    print_line(outcome.name, outcome.engine, cells, f"{state}: {outcome.verdict}".lstrip(": "))


def print_line(name: str, engine: str, cells: Sequence[str], end: str) -> None:
    columns = "".join(f"{cell:>{len(head) + 2}}" for cell, head in zip(cells, HEAD, strict=True))
    print(f"{name:24}{engine:9}{columns}  {end}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
