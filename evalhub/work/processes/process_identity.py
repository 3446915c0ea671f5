"""The identity of a worker's process, by which others on its machine see that it has ended."""

import os
import socket
from pathlib import Path

PROC = Path("/proc")
PARTS = 5


def identity(pid: int) -> str:
    """Return a process's machine, namespace, user, id and start.

    Outside Linux it is the host and the id, by which no end can be seen.
    """
    try:
        return " ".join([*_place(), str(pid), _start(pid)])
    except OSError:
        return f"{socket.gethostname()} {pid}"


def has_ended(process: str) -> bool:
    """Return True if the process ran beside this one and is gone, False if that is unknown."""
    *place, pid, start = parts if len(parts := process.split()) == PARTS else ("", "", "")
    try:
        if place != _place():
            return False
    except OSError:
        return False
    try:
        return _start(int(pid)) != start
    except OSError:
        return True


def _place() -> list[str]:
    """Return machine, namespace and user: within them a process can be looked for by its id."""
    boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
    return [boot, os.readlink(PROC / "self/ns/pid"), str(os.getuid())]


def _start(pid: int) -> str:
    """Return the start time of a process in the kernel's units; raise OSError if it has ended."""
    state, *fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    if state in "ZX":
        raise ProcessLookupError(pid)
    return fields[18]
