"""A function in a process of its own, with limits of time and memory and no environment. Pure.

It is for libraries that take any time and memory with some input, or crash. What a library limits
itself is left to it, as `regex` does by its `timeout`.
"""

import json
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

OUT_OF_MEMORY = 3
"""Exit code of the process."""


class LimitReached(Exception):
    """Why a process gave no reply, as the end of a sentence: "took more than 5 s"."""


def call_limited(
    function: str, data: bytes, *arguments: Any, seconds: int, memory: int = 1024**3
) -> Any:
    """Return the reply of a function to data and further arguments; both are JSON.

    Args:
        function: Such as "issues.drafting.documents:read"; its module imports no Django.
        seconds: Time to compute; three times as much may pass.
        memory: Bytes.

    Raises:
        LimitReached: It took too long or too much memory, or failed.
    """
    command = [sys.executable, "-I", __file__, function, str(seconds), str(memory)]
    try:
        done = subprocess.run(
            [*command, json.dumps(arguments)],
            input=data,
            capture_output=True,
            timeout=3 * seconds,
            env={},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LimitReached(f"took more than {seconds} s") from error
    if done.returncode == OUT_OF_MEMORY:
        raise LimitReached("took too much memory")
    if done.returncode < 0:  # ended by a signal, such as that of the limit
        raise LimitReached(f"took more than {seconds} s, or crashed")
    if done.returncode:
        raise LimitReached("failed")
    return json.loads(done.stdout)


def _reply(function: str, seconds: int, memory: int, arguments: list[Any]) -> None:
    with suppress(ImportError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    sys.path.append(str(Path(__file__).resolve().parents[3]))
    module, _, name = function.partition(":")
    try:
        found = getattr(import_module(module), name)(sys.stdin.buffer.read(), *arguments)
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    _reply(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4]))
