"""CPU that a worker uses until it waits for work, by what its models need. Prints JSON."""

import json
import os
import sys
from pathlib import Path

from tests.bench.site import prepare

STRAIGHT = "straight"
SIDES = {
    STRAIGHT: {"litellm_model": "openai/scripted", "api_base": "http://127.0.0.1:1/v1"},
    "translated": {"litellm_model": "anthropic/scripted", "api_base": "http://127.0.0.1:1"},
}
"""Models of which litellm must translate none, and one."""

STRAIGHT_CPU_S = 2.0
"""At most, when no translation is needed."""

TICKS = os.sysconf("SC_CLK_TCK")
USER, SYSTEM = 11, 12
"""Places in /proc/PID/stat, after the name."""


def started_cpu_s(folder: Path) -> float:
    """Start a worker of one process; what it, its parent and the reaper use till it waits."""
    from tests.evalhub.work.processes import eventually, running, session, stat, titled

    command = ("manage.py", "worker", "--processes", "1")
    with running(folder / "worker.log", *command) as worker:
        eventually(lambda: titled(worker.pid, "idle"), "a worker that waits", 60)
        used = [stat(pid) for pid in session(worker.pid)]
        return sum(int(fields[place]) for fields in used for place in (USER, SYSTEM)) / TICKS


def main(folder: Path) -> None:
    prepare(folder)
    from evalhub.models import LanguageModel
    from tests import factories

    found = {}
    for side, fields in SIDES.items():
        LanguageModel.objects.all().delete()
        factories.make_model(**fields)
        started_cpu_s(folder)  # so that Python's modules are compiled
        found[side] = started_cpu_s(folder)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
