"""Runs every job on both sides, one after the other, then times pages, and prints tables.

Jobs only report; where a report's page is out of its bound, the bench ends with 1.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from tests import postgres
from tests.bench import job_table, peers, workspaces
from tests.bench.exports import Measured as ExportMeasured
from tests.bench.jobs import JOBS
from tests.bench.page_bounds import HEAD, Held, cpu_bound
from tests.bench.reports import Measured as MeasuredPage
from tests.bench.scale import RESULTS, workspace_of
from tests.bench.similarity import LIMIT_MS
from tests.bench.start import STRAIGHT, STRAIGHT_CPU_S
from tests.bench.tally_proof import Proof
from tests.bench.validity.__main__ import main as validity
from tests.bench.web import MEDIAN_AT_MOST, OURS, PARTS, THEME, WarmPage
from tests.bench.workers import SPREADS


def workers() -> Table:
    """A run must not be slower for having more processes, and gain from a model's width.

    All rates are multiples of the first row's: one process at the least width.
    """
    head = ("processes", "width", "tests", "window s", "× ideal", "calls/s", "× first", "at least")
    table = Table(*head, title=f"One run spread over processes, {os.cpu_count()} CPUs, PostgreSQL")
    first = 0.0
    for number, spread in enumerate(SPREADS):
        window_s = spread_over(number)
        rate = spread.tests / window_s
        first = first or rate
        table.add_row(
            str(spread.processes),
            str(spread.width),
            str(spread.tests),
            f"{window_s:.1f}",
            f"{window_s / spread.ideal_s:.2f}",
            f"{rate:.1f}",
            f"{rate / first:.2f}",
            f"{spread.least:.2f}" if spread.least else "",
        )
    return table


def start() -> Table:
    """A worker must start fast, unless a model needs a translator."""
    found = on_disk("tests.bench.start")
    table = Table("models", "CPU s", "at most", title="Start of a worker")
    for side, cpu_s in found.items():
        table.add_row(side, f"{cpu_s:.2f}", f"{STRAIGHT_CPU_S:.2f}" if side == STRAIGHT else "")
    return table


def spread_over(number: int) -> float:
    return float(on_postgres("tests.bench.workers", str(number))["window_s"])


def on_postgres(module: str, *arguments: str) -> dict[str, Any]:
    """What a module prints, given an empty database and a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, postgres.server(Path(folder)) as url:
        data = Path(folder) / "site"
        data.mkdir()
        environment = {**os.environ, "DATABASE_URL": url.rpartition("/")[0] + "/postgres"}
        command = [sys.executable, "-m", module, *arguments, str(data)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def on_disk(module: str) -> dict[str, Any]:
    """What a module prints, given an empty folder for its site."""
    with tempfile.TemporaryDirectory() as folder:
        found, _ = job_table.output_of(module, folder)
    return dict(found)


def load(console: Console) -> bool:
    """Fifty readers and twenty annotators beside two runs; tells whether nothing was lost."""
    found = on_postgres("tests.bench.load")
    alone_ms = found["alone_p95_ms"]
    table = Table(
        "requests", "number", "p95 ms", "× alone", title="50 readers, 20 annotators and 2 runs"
    )
    table.add_row("the same pages alone", "", f"{alone_ms:.0f}", "1.0")
    for name in ("read", "write"):
        p95_ms = found[f"{name}_p95_ms"]
        number, ratio = str(found[f"{name}s"]), f"{p95_ms / alone_ms:.1f}"
        table.add_row(f"{name}s", number, f"{p95_ms:.0f}", ratio)
    console.print(table)
    acknowledged, saved = found["acknowledged"], found["saved"]
    console.print(f"{acknowledged} writes were acknowledged, {saved} are in the database.")
    console.print("\n".join(found["problems"]) or "No request failed.")
    return bool(acknowledged == saved and not found["problems"])


def audit() -> Table:
    """The audit page must not come later, however much has been done."""
    found = on_postgres("tests.bench.audit")
    smallest = min(found, key=int)
    head = ("entries", "filter", "median ms", "× fewest", "at most")
    table = Table(*head, title="The audit page, PostgreSQL")
    for size, times in found.items():
        for name, median_ms in times.items():
            limit = "" if size == smallest else "2.00"
            ratio = f"{median_ms / found[smallest][name]:.2f}"
            table.add_row(f"{int(size):,}", name, f"{median_ms:.0f}", ratio, limit)
    return table


def alike() -> Table:
    """What says much the same must be found while somebody types."""
    head = ("engine", "first search ms", "median ms", "slowest ms", "at most")
    table = Table(
        *head, title="CPU of finding what is alike in 2,000 issues and 10,000 pieces of feedback"
    )
    for engine, found in (("SQLite", alike_on("")), ("PostgreSQL", alike_on_postgres())):
        cells = [f"{found[name]:.0f}" for name in ("first_ms", "median_ms", "slowest_ms")]
        table.add_row(engine, *cells, f"{LIMIT_MS:.0f}")
    return table


def alike_on(url: str) -> dict[str, float]:
    environment = {**os.environ, "DATABASE_URL": url}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.bench.similarity", folder]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def alike_on_postgres() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder, postgres.server(Path(folder)) as url:
        return alike_on(url.rpartition("/")[0] + "/postgres")


def reports(console: Console, wanted: Sequence[str]) -> bool:
    """Every report's page on each ledger; tells whether all hold their bounds.

    A page makes no more queries on a ledger of 1,000,000 results than on one of 10,000.
    """
    few = {page.page: page.queries for page in pages_on(workspaces.SMALL, wanted)}
    holds = True
    for ledger in workspaces.LARGE:
        found = [
            Held(page, few.get(page.page, 0), cpu_bound(ledger))
            for page in pages_on(ledger, wanted)
        ]
        console.print(reports_table(ledger.title, found))
        holds &= all(page.holds for page in found)
    return holds


def pages_on(ledger: workspaces.Workspace, wanted: Sequence[str]) -> list[MeasuredPage]:
    found = printed_on(ledger, "tests.bench.reports", wanted)
    return [MeasuredPage(**page) for page in found]


def printed_on(ledger: workspaces.Workspace, module: str, wanted: Sequence[str]) -> Any:
    """What a module prints that measures pages of this ledger."""
    with workspaces.kept(ledger) as environment:
        command = [sys.executable, "-m", module, *wanted]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit(f"The pages could not be measured on {ledger.title}.")
    return json.loads(done.stdout)


def web(console: Console, wanted: Sequence[str]) -> bool:
    """The pages that people open most, warm; tells whether all hold their bounds."""
    ledger = workspaces.WARM
    found = [WarmPage(**page) for page in printed_on(ledger, "tests.bench.web", wanted)]
    head = ("page", "KB", "CPU ms", "× theme", *PARTS, "rest", "queries", "holds")
    table = Table(*head, title=f"Warm pages, the whole way: {ledger.title}")
    for page in found:
        table.add_row(*page.cells())
    console.print(table)
    pages = [page for page in found if page.page not in (THEME, OURS)]
    middle = median(page.ratio for page in pages)
    console.print(f"Median of {len(pages)} pages: {middle:.2f} × theme, at most {MEDIAN_AT_MOST}.")
    return middle <= MEDIAN_AT_MOST and all(page.holds for page in pages)


def scale(console: Console, wanted: Sequence[str]) -> bool:
    """Pages, lists, exports and tallies on a million results, or as many as a number says.

    Tells whether all hold their bounds; names choose pages alone.
    """
    numbers = [int(word) for word in wanted if word.isdecimal()]
    ledger = workspace_of(numbers[0] if numbers else RESULTS)
    names = [word for word in wanted if not word.isdecimal()]
    printed = printed_on(ledger, "tests.bench.scale", names)
    found = [Held(MeasuredPage(**page)) for page in printed["pages"]]
    console.print(reports_table(ledger.title, found))
    files = [ExportMeasured(**one) for one in printed["exports"]]
    console.print(exports_table(ledger.title, files))
    proof = Proof(**printed["proof"]) if printed["proof"] else None
    if proof:
        console.print(proof.words)
    every = [*found, *files, *([proof] if proof else [])]
    return all(one.holds for one in every)


def exports_table(title: str, found: Sequence[ExportMeasured]) -> Table:
    head = ("rows of", "file", "rows", "database µs", "export µs", "own µs", "at most")
    table = Table(*head, title=f"CPU of long exports per row: {title}")
    for one in found:
        table.add_row(*one.cells())
    return table


def reports_table(title: str, pages: Sequence[Held]) -> Table:
    table = Table(*HEAD, title=f"First request of each page: {title}")
    for page in pages:
        table.add_row(*page.cells())
    return table


def main() -> int:
    """Measure everything, or what the arguments name.

    That is a job, `start`, `workers`, `load`, `audit`, `alike`, `reports`, `web` or `scale`.
    `peers` installs the systems that we compare with and does the jobs.

    After `reports`, `web` and `scale` follow the beginnings of page names, as in `reports trend`;
    `validity` measures conclusions instead, all of them or those whose names begin as what follows.
    """
    if sys.argv[1:2] == ["validity"]:
        return validity(sys.argv[2:])
    single = ["start", "workers", "load", "audit", "alike"]
    parts = [*single, "reports", "web", "scale"]
    named = sys.argv[1:] or [*(job.name for job in JOBS), *parts]
    console = Console(width=110)
    if "peers" in named:
        peers.install()
        named += [job.name for job in JOBS if job.latency_ms is not None]
    if jobs := [job for job in JOBS if job.name in named]:
        console.print(job_table.table(jobs))
    if "start" in named:
        console.print(start())
    if "workers" in named:
        console.print(workers())
    if "audit" in named:
        console.print(audit())
    if "alike" in named:
        console.print(alike())
    holds = load(console) if "load" in named else True
    pages_of = {"reports": reports, "web": web, "scale": scale}
    for name in [name for name in named if name in pages_of]:
        wanted = [word for word in named[named.index(name) + 1 :] if word not in parts]
        holds &= pages_of[name](console, wanted)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    sys.exit(main())
