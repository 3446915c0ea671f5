"""One run spread over worker processes, against one process at width 64. Prints its window.

The provider takes two seconds for each call, so that a run is bound by its calls. The window is
from the first call to the last reply; all processes are idle and ready before the launch.
"""

import json
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tests.bench.site import prepare
from tests.provider import Provider

LATENCY_MS = 2000


@dataclass(frozen=True)
class Spread:
    """Processes that share a run; `least` is what they must reach of the first one's calls/s."""

    processes: int
    width: int
    tests: int
    least: float | None = None

    @property
    def ideal_s(self) -> float:
        return -(-self.tests // self.width) * LATENCY_MS / 1000


SPREADS = (
    Spread(1, 64, 300),
    Spread(2, 64, 300, 0.95),
    Spread(4, 64, 300, 0.95),
    Spread(1, 256, 1500),
    Spread(2, 256, 1500, 1.9),
    Spread(4, 256, 1500, 3.6),
)


def window_s(spread: Spread, folder: Path) -> float:
    from django.db import transaction

    from evalhub.models import BatchState, Call
    from evalhub.work.processes.queue import enqueue_task
    from tests import factories
    from tests.evalhub.work.processes import eventually, running, titled

    with Provider(latency_ms=LATENCY_MS, keep_requests=False) as provider:
        worker = running(
            folder / "worker.log",
            "manage.py",
            "worker",
            EVALHUB_WORKERS=str(spread.processes),
            EVALHUB_ALLOWED_ADDRESSES=f"127.0.0.1:{provider.port}",
        )
        with worker as process:
            eventually(lambda: len(titled(process.pid, "idle")) == spread.processes, "workers", 60)
            with transaction.atomic():
                model = factories.make_model(
                    litellm_model="openai/scripted",
                    api_base=provider.base_url,
                    max_concurrency=spread.width,
                    timeout_s=60,
                )
                template, issue = factories.make_template(), factories.make_issue()
                tests = [
                    factories.make_test(f"Question {n}?", template=template, issue=issue)
                    for n in range(spread.tests)
                ]
                run = factories.make_run(*tests, model=model)
            for _ in range(spread.processes):
                enqueue_task()

            def is_done() -> bool:
                run.refresh_from_db(fields=["state"])
                return bool(run.state == BatchState.DONE)

            eventually(is_done, "the end of the run", 600)
        made = (provider.total, Call.objects.count(), spread.tests)
        assert set(made) == {spread.tests}, made
    calls = list(Call.objects.values_list("started_at", "latency_ms"))
    last = max(start + timedelta(milliseconds=latency_ms) for start, latency_ms in calls)
    return float((last - min(start for start, _ in calls)).total_seconds())


def main(number: int, folder: Path) -> None:
    prepare(folder)
    sys.stdout.write(json.dumps({"window_s": window_s(SPREADS[number], folder)}))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
