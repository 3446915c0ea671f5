"""The distribution's Redis on a free port, for one test module."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from redis import Redis, RedisError

PACKAGE = "redis-server"


@contextmanager
def server() -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Its address and its process, which keeps nothing on disk."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip(f"no Redis here: apt-get install {PACKAGE}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ("--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
    process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    url = f"redis://127.0.0.1:{port}/0"
    try:
        wait_for(Redis.from_url(url))
        yield url, process
    finally:
        process.kill()
        process.wait()


def wait_for(client: Redis) -> None:
    for _ in range(300):
        try:
            client.ping()
            return
        except RedisError:
            time.sleep(0.05)
    raise RuntimeError("Redis did not start.")
