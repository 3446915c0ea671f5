"""Real processes for tests: started, watched through /proc, and ended whatever happens."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

PROC = Path("/proc")
ROOT = Path(__file__).parents[3]
T = TypeVar("T")
Popen = subprocess.Popen[str]


@contextmanager
def running(
    log: Path,
    *command: str,
    before: Sequence[str] = (),
    folder: Path = ROOT,
    **environment: str | None,
) -> Iterator[Popen]:
    """A process in a session of its own, which is killed at the end with all of its session.

    Args:
        log: The file to which its output is appended.
        command: Arguments for Python.
        folder: The one in which it runs.
        before: A command that starts Python with the arguments that follow it, such as `env`.
        environment: Added to the environment; a variable that is None is taken out.
    """
    merged = {k: v for k, v in (os.environ | environment).items() if v is not None}
    with log.open("a") as output:
        process = subprocess.Popen(
            [*before, sys.executable, *command],
            cwd=folder,
            env=merged,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        for pid in [process.pid, *session(process.pid)]:
            kill(pid)
        process.wait()


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def stat(pid: int) -> list[str]:
    """Return state, parent, group, session and so on from /proc; [] if it is gone."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def session(leader: int) -> list[int]:
    """Return the living processes, without zombies, of the session that this process started."""
    pids = [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]
    found = {pid: stat(pid) for pid in pids}
    return [pid for pid, fields in found.items() if fields and in_session(fields, leader)]


def in_session(fields: list[str], leader: int) -> bool:
    return fields[0] != "Z" and fields[3] == str(leader)


def title(pid: int) -> str:
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


def titled(leader: int, part: str) -> list[int]:
    """Return the session's processes with this in their title, such as 'idle' or 'processing'."""
    return [pid for pid in session(leader) if part in title(pid)]


def eventually(found: Callable[[], T], what: str, within_s: float = 300.0) -> T:
    """Return the first true result of `found`; late on a busy machine, which is no fault.

    Raises:
        TimeoutError: There was none in time; the message names `what` was expected.
    """
    deadline = time.monotonic() + within_s
    while not (result := found()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {within_s:.0f} s")
        time.sleep(0.05)
    return result


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as response:
        content: bytes = response.read()
    return content


def children(parent: int) -> list[int]:
    """Return the child processes, including zombies."""
    pids = [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if stat(pid)[1:2] == [str(parent)]]


def family(pid: int) -> list[int]:
    """Return a process and all living ones that descend from it."""
    found = [pid]
    for parent in found:
        found += children(parent)
    return living(found)


def living(pids: list[int]) -> list[int]:
    return [pid for pid in pids if stat(pid)[:1] not in ([], ["Z"])]


def answers(url: str) -> bool:
    try:
        get(url)
    except OSError:
        return False
    return True
