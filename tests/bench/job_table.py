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
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from rich.table import Table

from tests.bench import peers
from tests.bench.jobs import Job, greedy_s
from tests.peers import installed

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
    """The job's sides, one after the other on the same machine; the last ones are the peers'."""
    if job.latency_ms is None:
        greedy = greedy_s(job.latencies_ms, job.tests, job.in_flight)
        yield [job.name, "greedy schedule", f"{greedy:.1f}", f"{greedy / job.ideal_s:.2f}"]
        yield row(job, "EvalHub", run_ours(job), 1.15 * greedy)
        return
    yield [job.name, "ideal", f"{job.ideal_s:.1f}", "1.00"]
    floor, litellm = run_bare(job, "aiohttp"), run_bare(job, "litellm")
    yield row(job, "aiohttp alone", floor)
    yield row(job, "litellm alone", litellm)
    if job.of_litellm is None:
        bound_s = 1.1 * job.ideal_s + floor.window_s - job.ideal_s
        yield row(job, "EvalHub", run_ours(job), bound_s)
    for number, of_litellm in enumerate(job.of_litellm or (), 1):
        side = f"EvalHub, {number} process" + ("es" if number > 1 else "")
        yield row(job, side, run_ours(job, number), of_litellm * litellm.window_s)
    for peer in peers.PEERS:
        if installed.is_installed(peer):
            yield row(job, peer, run_peer(job, peer))
        else:
            yield [job.name, f"{peer}: not installed: dev.py bench peers"]


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


def run_peer(job: Job, peer: str) -> Measured:
    """Its window is the provider's: from the first call's arrival to the end of the last reply."""
    with provider(job) as port, tempfile.TemporaryDirectory() as folder:
        command = peers.PEERS[peer](job, f"http://127.0.0.1:{port}/v1", folder)
        log = Path(folder) / "output"
        started = time.perf_counter()
        with log.open("wb") as output:
            process = subprocess.Popen(
                command.arguments,
                env={**os.environ, **command.environment},
                cwd=folder,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            usage = ended(process)
        if process.returncode not in command.succeeds_with:
            raise SystemExit(f"{peer} ended with {process.returncode}:\n{log.read_text()[-2000:]}")
        return measured(seen_at(port)["window_s"], started, usage)


def measure(*command: str) -> Measured:
    started = time.perf_counter()
    found, usage = output_of(*command)
    return measured(found["window_s"], started, usage)


def measured(window_s: float, started: float, usage: resource.struct_rusage) -> Measured:
    cpu_s, peak_mb = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    return Measured(window_s, time.perf_counter() - started, cpu_s, peak_mb)


def output_of(*command: str) -> tuple[Any, resource.struct_rusage]:
    """What a module prints as JSON, and what its process used."""
    process = subprocess.Popen([sys.executable, "-m", *command], stdout=subprocess.PIPE)
    assert process.stdout is not None
    output = process.stdout.read()
    usage = ended(process)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return json.loads(output), usage


def ended(process: "subprocess.Popen[bytes]") -> resource.struct_rusage:
    """What a process and its children used, once it has ended."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


def seen_at(port: int) -> dict[str, Any]:
    with urlopen(f"http://127.0.0.1:{port}/seen") as response:
        found: dict[str, Any] = json.load(response)
    return found


@contextmanager
def provider(job: Job) -> Iterator[int]:
    """A mock provider in a process of its own, with the job's latencies; gives its port.

    A side that made other calls than the job's, or more at once, is not compared.
    """
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
            seen = seen_at(port)
        finally:
            process.terminate()
            process.wait()
    if seen["calls"] != job.calls or seen["max_in_flight"] > job.in_flight:
        raise SystemExit(f"The job is {job.calls} calls, {job.in_flight} at once, not {seen}.")
