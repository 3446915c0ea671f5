"""EvalHub's side: the same calls through launch, worker loop and database. Prints its window.

The window is from the first call to the moment when the last one is saved.
"""

import asyncio
import json
import os
import sys
import time

import django


def prepare(folder: str, port: int) -> None:
    os.environ.update(
        DJANGO_SETTINGS_MODULE="evalhub.settings",
        EVALHUB_DATA_DIR=folder,
        EVALHUB_SECRET_KEY="bench",
        EVALHUB_ALLOWED_ADDRESSES=f"127.0.0.1:{port}",
        EVALHUB_LOG_LEVEL="WARNING",
    )
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


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


def work() -> float:
    """Do it all, and return the window in seconds."""
    from evalhub.llm import gateway
    from evalhub.models import LanguageModel
    from evalhub.work import loop, saver

    gateway.load(LanguageModel.objects.active())
    begun: list[float] = []
    saved: list[float] = []
    complete, store = gateway.complete, saver.store

    async def noted_complete(*args, **kwargs):
        begun.append(time.perf_counter())
        return await complete(*args, **kwargs)

    def noted_store(*args, **kwargs):
        kept = store(*args, **kwargs)
        saved.append(time.perf_counter())
        return kept

    gateway.complete, saver.store = noted_complete, noted_store
    asyncio.run(loop.Loop(seconds=900).run())
    return saved[-1] - begun[0]


def check(tests: int) -> None:
    """Figures of work that was not done are worth nothing."""
    from evalhub.models import Call
    from runs.models import Answer, Judgment, Result

    made = (Call.objects.count(), Answer.objects.count(), Judgment.objects.count())
    assert made == (tests * 4, tests, tests * 3), made
    assert not Result.objects.filter(score=None).exists()


if __name__ == "__main__":
    tests, in_flight, port, folder = (
        int(sys.argv[1]),
        int(sys.argv[2]),
        int(sys.argv[3]),
        sys.argv[4],
    )
    prepare(folder, port)
    make_run(tests, in_flight, f"http://127.0.0.1:{port}/v1")
    window_s = work()
    check(tests)
    sys.stdout.write(json.dumps({"window_s": window_s}))
