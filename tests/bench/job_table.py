"""What a job takes on each side: ideally, with bare calls, and in EvalHub with everything saved."""

import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from tests.bench.jobs import Job, greedy_s

HEAD = ("job", "side", "window s", "× ideal", "bound s", "÷ bound", "wall s", "CPU s", "MB")


@dataclass(frozen=True)
class Measured:
    """One process: `window_s` between its first call and its last, the rest over its whole life."""

    window_s: float
    wall_s: float
    cpu_s: float
    peak_mb: float


def table(jobs: Sequence[Job]) -> Table:
    found = Table(*HEAD, title="Calls, with everything saved, against calls alone")
    for job in jobs:
        for cells in rows_of(job):
            found.add_row(*cells)
    return found


def rows_of(job: Job) -> Iterator[list[str]]:
    """The job's sides, one after the other on the same machine; the last ones are EvalHub's."""
    if job.latency_ms is None:
        greedy = greedy_s(job.latencies_ms, job.tests, job.in_flight)
        yield [job.name, "greedy schedule", f"{greedy:.1f}", f"{greedy / job.ideal_s:.2f}"]
        yield row(job, "EvalHub", run_ours(job), 1.15 * greedy)
        return
    floor, litellm = run_bare(job, "aiohttp"), run_bare(job, "litellm")
    yield row(job, "aiohttp alone", floor)
    yield row(job, "litellm alone", litellm)
    if job.of_litellm is None:
        bound_s = 1.1 * job.ideal_s + floor.window_s - job.ideal_s
        yield row(job, "EvalHub", run_ours(job), bound_s)
        return
    for number, of_litellm in enumerate(job.of_litellm, 1):
        side = f"EvalHub, {number} process" + ("es" if number > 1 else "")
        yield row(job, side, run_ours(job, number), of_litellm * litellm.window_s)


def row(job: Job, side: str, found: Measured, bound_s: float | None = None) -> list[str]:
    return [
        job.name,
        side,
        f"{found.window_s:.1f}",
        f"{found.window_s / job.ideal_s:.2f}",
        f"{bound_s:.1f}" if bound_s else "",
        f"{found.window_s / bound_s:.2f}" if bound_s else "",
        f"{found.wall_s:.1f}",
        f"{found.cpu_s:.1f}",
        f"{found.peak_mb:.0f}",
    ]


def run_bare(job: Job, side: str) -> Measured:
    with provider(job) as port:
        return measure("tests.bench.bare_calls", side, job.name, f"http://127.0.0.1:{port}/v1")


def run_ours(job: Job, processes: int = 1) -> Measured:
    with provider(job) as port, tempfile.TemporaryDirectory() as folder:
        counts = (str(job.tests), str(job.in_flight), str(processes), str(port))
        return measure("tests.bench.evalhub_calls", *counts, folder)


def measure(*command: str) -> Measured:
    started = time.perf_counter()
    found, usage = output_of(*command)
    wall_s = time.perf_counter() - started
    cpu_s, peak_mb = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    return Measured(found["window_s"], wall_s, cpu_s, peak_mb)


def output_of(*command: str) -> tuple[Any, resource.struct_rusage]:
    """What a module prints as JSON, and what its process used."""
    process = subprocess.Popen([sys.executable, "-m", *command], stdout=subprocess.PIPE)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return json.loads(output), usage


@contextmanager
def provider(job: Job) -> Iterator[int]:
    """A mock provider in a process of its own, with the job's latencies; gives its port."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file, socket.socket() as free:
        json.dump(job.latencies_ms, file)
        file.flush()
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        command = ("tests.provider", "--port", str(port), "--latencies", file.name)
        process = subprocess.Popen([sys.executable, "-m", *command], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield port
        finally:
            process.terminate()
            process.wait()
