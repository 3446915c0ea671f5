"""EvalHub's side: the same calls through launch, worker loop and database. Prints its window.

The window is from the first call to the moment when the last one is saved.
"""

import asyncio
import json
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.bench import site


def prepare(folder: str, port: int) -> None:
    os.environ["EVALHUB_ALLOWED_ADDRESSES"] = f"127.0.0.1:{port}"
    site.prepare(Path(folder))


def make_run(tests: int, in_flight: int, base_url: str) -> None:
    from runs.models import Judge, Jury
    from tests import factories

    model = factories.make_model(
        litellm_model="openai/scripted", api_base=base_url, max_concurrency=in_flight
    )
    jury = Jury.objects.create(name="three")
    jury.judges.set([Judge.objects.given(model, params={"seed": n}) for n in range(3)])
    template, issue = factories.make_template(), factories.make_issue()
    rows = [
        factories.make_test(f"Question {n}: how many are there?", template=template, issue=issue)
        for n in range(tests)
    ]
    factories.make_run(*rows, model=model, jury=jury)


def work() -> tuple[float, float]:
    """Do it all as a worker process does; return when it began to call and when all was saved."""
    from evalhub.llm import gateway
    from evalhub.work import loop, saver

    begun: list[float] = []
    saved: list[float] = []
    complete, store = gateway.complete, saver.store

    async def noted_complete(*args, **kwargs):
        begun.append(time.monotonic())
        return await complete(*args, **kwargs)

    def noted_store(*args, **kwargs):
        kept = store(*args, **kwargs)
        saved.append(time.monotonic())
        return kept

    async def run() -> None:
        await loop.Loop(seconds=900).run()
        await gateway.close()

    gateway.complete, saver.store = noted_complete, noted_store
    asyncio.run(run())
    return begun[0], saved[-1]


def work_in(processes: int) -> float:
    """Let so many processes do it, forked as workers are, and return the window in seconds."""
    from evalhub.work.processes import cluster

    cluster.prepare()
    with ProcessPoolExecutor(processes, multiprocessing.get_context("fork")) as pool:
        spans = [future.result() for future in [pool.submit(work) for _ in range(processes)]]
    return max(saved for _, saved in spans) - min(begun for begun, _ in spans)


def check(tests: int) -> None:
    """Figures of work that was not done are worth nothing."""
    from evalhub.models import Call
    from runs.models import Answer, Judgment, Result

    made = (Call.objects.count(), Answer.objects.count(), Judgment.objects.count())
    assert made == (tests * 4, tests, tests * 3), made
    assert not Result.objects.filter(score=None).exists()


if __name__ == "__main__":
    tests, in_flight, processes, port = (int(argument) for argument in sys.argv[1:5])
    prepare(sys.argv[5], port)
    make_run(tests, in_flight, f"http://127.0.0.1:{port}/v1")
    window_s = work_in(processes)
    check(tests)
    sys.stdout.write(json.dumps({"window_s": window_s}))
