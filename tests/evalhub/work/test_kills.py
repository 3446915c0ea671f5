"""The real worker command against a real provider, killed in the middle of a run.

Whatever is killed, nothing saved is lost, no call is made twice but those in flight at the kill,
no process is left, and the run comes to its end: by itself, or at the next start.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from evalhub.models import BatchState, Call, ItemState
from evalhub.work.queue import request_worker
from runs.models import Answer, Judgment, Run
from tests.evalhub.work import processes
from tests.evalhub.work.processes import Popen, eventually, running, titled
from tests.factories import make_issue, make_jury, make_model, make_run, make_template, make_test

pytestmark = [pytest.mark.kill, pytest.mark.django_db(transaction=True)]

RESULTS, JUDGES = 100, 3
CALLS = RESULTS * (1 + JUDGES)
LATENCY_MS = 100
IN_FLIGHT = 8
MOST_IN_FLIGHT = 2 * IN_FLIGHT * (JUDGES + 1)
CLEAN: tuple[int, list[int]] = (0, [])


class Site:
    """A worker command, a provider, and a run that they work on."""

    def __init__(self, folder: Path, database_url: str, stack: ExitStack) -> None:
        self.log = folder / "worker.log"
        self.database_url, self.stack = database_url, stack
        provider_log = folder / "provider.log"
        stack.enter_context(
            running(provider_log, "-m", "tests.provider", "--latency-ms", str(LATENCY_MS))
        )
        self.base_url = eventually(lambda: processes.first_line(provider_log), "the provider")

    def start(self, workers: int = 2) -> Popen:
        return self.stack.enter_context(
            running(
                self.log,
                "manage.py",
                "worker",
                DATABASE_URL=self.database_url,
                EVALHUB_ALLOWED_ADDRESSES="127.0.0.1",
                EVALHUB_LEASE_S="4",
                EVALHUB_WORKERS=str(workers),
            )
        )

    def launch(self) -> Run:
        models = [
            make_model(api_base=self.base_url, max_concurrency=IN_FLIGHT) for _ in range(JUDGES + 1)
        ]
        issue, template = make_issue(), make_template()
        asked = [f"What is {n} + 2?" for n in range(RESULTS)]
        tests = [make_test(prompt, issue=issue, template=template) for prompt in asked]
        run = make_run(*tests, model=models[0], jury=make_jury(*models[1:]))
        request_worker()
        return run

    def wait_for_calls(self, number: int) -> None:
        eventually(lambda: Call.objects.count() >= number, f"{number} calls in {self.log}", 60)

    def requests(self) -> int:
        return int(processes.asked(self.base_url)["total"])

    def unsaved(self) -> int:
        """Requests that reached the provider and of which nothing was saved."""
        return self.requests() - Call.objects.count()

    def repeated(self) -> int:
        """Requests that were made although an equal one had been made before."""
        counts = processes.asked(self.base_url)["counts"].values()
        return sum(count - 1 for count in counts)


@pytest.fixture
def site(tmp_path: Path, database_url: str) -> Iterator[Site]:
    with ExitStack() as stack:
        yield Site(tmp_path, database_url, stack)


def freeze(site: Site, command: Popen) -> int:
    """Stop all processes of the command. Returns how many requests are in flight."""
    for pid in processes.session(command.pid):
        processes.kill(pid, signal.SIGSTOP)
    eventually(lambda: is_quiet(site), "the provider's last reply")
    return site.unsaved()


def is_quiet(site: Site) -> bool:
    """Return True if the provider has answered everything, and no request was still under way."""
    before = processes.asked(site.base_url)
    time.sleep(0.5)
    after = processes.asked(site.base_url)
    return bool(after["in_flight"] == 0 and before["total"] == after["total"])


def thaw(command: Popen) -> None:
    for pid in processes.session(command.pid):
        processes.kill(pid, signal.SIGCONT)


def check_whole(site: Site, run: Run, in_flight: int, before: int = 0) -> None:
    """The run ends, and nothing of it is missing, double, or asked for again without need.

    Args:
        in_flight: Requests of which nothing was saved when processes were killed last.
        before: As many of them as were lost to kills before.
    """
    eventually(lambda: is_over(run), f"the end of the run in {site.log}", 90)
    assert Answer.objects.filter(result__run=run).count() == RESULTS
    assert judgments_by_judge(run) == [RESULTS] * JUDGES
    assert run.results.filter(state=ItemState.DONE, is_judged=True).count() == RESULTS
    assert site.repeated() <= in_flight <= before + MOST_IN_FLIGHT
    assert len(processes.asked(site.base_url)["counts"]) == CALLS


def is_over(run: Run) -> bool:
    states = [Run.objects.get(pk=run.pk).state, run.judge_runs.get().state]
    return states == [BatchState.DONE, BatchState.DONE]


def judgments_by_judge(run: Run) -> list[int]:
    found: dict[Any, int] = {}
    for judge in Judgment.objects.filter(judge_run__run=run).values_list("judge", flat=True):
        found[judge] = found.get(judge, 0) + 1
    return list(found.values())


def stop(command: Popen) -> tuple[int, list[int]]:
    """SIGTERM, and within 8 s the status of the command, and which of its processes are left."""
    command.terminate()
    return command.wait(8), processes.session(command.pid)


def test_a_stop_a_dead_worker_and_a_dead_parent(site):
    first = site.start()
    idle = eventually(lambda: titled(first.pid, "idle"), "idle workers")
    for pid in idle:
        os.kill(pid, signal.SIGKILL)
    run = site.launch()
    site.wait_for_calls(CALLS // 5)
    assert not set(idle) & set(processes.session(first.pid))
    assert stop(first) == CLEAN
    assert not is_over(run)
    assert run.results.exclude(worker=None).count() == 0
    assert site.unsaved() == 0

    second = site.start()
    site.wait_for_calls(2 * CALLS // 5)
    in_flight = freeze(site, second)
    os.kill(titled(second.pid, "processing")[0], signal.SIGKILL)
    thaw(second)
    site.wait_for_calls(3 * CALLS // 5)
    assert site.repeated() <= in_flight <= MOST_IN_FLIGHT

    before, in_flight = in_flight, freeze(site, second)
    # The others stay stopped: awake, they would call on until they learn of the death.
    os.kill(second.pid, signal.SIGKILL)
    eventually(lambda: not processes.session(second.pid), "the end of all orphans")

    third = site.start(workers=1)
    check_whole(site, run, in_flight, before)
    assert stop(third) == CLEAN


@pytest.mark.both_engines
def test_everything_is_killed(site):
    command = site.start()
    run = site.launch()
    site.wait_for_calls(CALLS // 2)
    in_flight = freeze(site, command)
    for pid in processes.session(command.pid):
        processes.kill(pid)

    second = site.start()
    check_whole(site, run, in_flight)
    assert stop(second) == CLEAN
