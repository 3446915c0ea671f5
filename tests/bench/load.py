"""Fifty readers and twenty annotators while two runs go on, for a minute. Prints JSON.

All share this machine: the site with its two web processes and a worker, PostgreSQL, the provider
and those who ask. So times are told as multiples of the same pages asked for by nobody else.
"""

import json
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.bench import site

READERS, ANNOTATORS, SECONDS = 50, 20, 60.0
THINK_S = (1.0, 3.0)
RUNS, RESULTS = 12, 200
TESTS_AT_WORK = 300
ALONE = 5
"""Requests of each page by nobody else."""


@dataclass
class Asked:
    """Milliseconds of each request, and the answers that were none."""

    took_ms: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def ask(self, port: int, method: str, path: str, body: Any, headers: dict[str, str]) -> bool:
        """Send a request; return True if it was carried out."""
        began = time.perf_counter()
        try:
            connection = HTTPConnection("127.0.0.1", port, timeout=120)
            content = json.dumps(body) if body is not None else None
            connection.request(method, path, content, headers)
            status = connection.getresponse().status
            connection.close()
        except OSError as error:
            self.problems.append(f"{path}: {error}")
            return False
        self.took_ms.append(1000 * (time.perf_counter() - began))
        if status not in (200, 201):
            self.problems.append(f"{path}: {status}")
        return status in (200, 201)

    def percentile(self, share: float) -> float:
        ordered = sorted(self.took_ms)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def prepare(folder: Path) -> None:
    (folder / "static").mkdir(exist_ok=True)
    site.prepare(folder)
    from django.utils import timezone

    from tests.sample_data.plan import Size
    from tests.sample_data.workspace import generate

    generate(Size(RUNS, RESULTS, seed=1, until=timezone.now()), detailed=RUNS)


def reader() -> dict[str, str]:
    """Headers of a maintainer who is logged in."""
    from django.conf import settings
    from django.test import Client

    from tests import factories

    client = Client()
    client.force_login(factories.make_user("maintainer"), settings.AUTHENTICATION_BACKENDS[-1])
    return {"Cookie": f"{settings.SESSION_COOKIE_NAME}={client.session.session_key}"}


def annotator() -> dict[str, str]:
    from evalhub.models import Token, TokenScope
    from tests import factories

    owner = factories.make_user("annotator")
    _, text = Token.objects.issue(user=owner, name="bench", scope=TokenScope.WRITE)
    return {"Authorization": f"Bearer {text}", "Content-Type": "application/json"}


def pages() -> list[str]:
    from django.urls import reverse

    from reports.documents.links import run_url
    from runs.models import Result, Run

    newest = Run.objects.latest("pk")
    shown = Result.objects.filter(run=newest).values_list("pk", flat=True)[:10]
    results = [reverse("admin:runs_result_change", args=[pk]) for pk in shown]
    lists = [reverse(f"admin:{name}_changelist") for name in ("issues_issue", "issues_test")]
    return [reverse("admin:index"), run_url(newest), *lists, *results]


def verdicts() -> list[dict[str, Any]]:
    """Verdicts that can be given, no two on the same result."""
    from issues.content.revisions import scale_of
    from runs.models import Result

    rows = Result.objects.filter(state="done", test__sealed=False).select_related(
        "revision__template"
    )
    return [
        {
            "result": row.pk,
            "option": scale_of(row.revision.template).options[0].label,
            "justification": "It is right.",
        }
        for row in rows
    ]


def at_once(acts: Sequence[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=act) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def measure(folder: Path) -> dict[str, Any]:
    from django.db import transaction

    from evalhub.models import BatchState
    from evalhub.work.processes import programs
    from evalhub.work.processes.queue import enqueue_task
    from runs.models import HumanEvaluation
    from tests import factories
    from tests.evalhub.work.processes import eventually, running
    from tests.provider import Provider

    port = programs.next_free("127.0.0.1", 8300)
    paths, given = pages(), iter(verdicts())
    readers = [reader() for _ in range(READERS)]
    annotators = [annotator() for _ in range(ANNOTATORS)]
    before = HumanEvaluation.objects.count()
    alone, reads, writes = Asked(), Asked(), Asked()
    acknowledged: list[int] = []
    lock = threading.Lock()
    with ExitStack() as stack:
        provider = stack.enter_context(Provider(latency_ms=300, keep_requests=False))
        start = {"EVALHUB_ALLOWED_ADDRESSES": f"127.0.0.1:{provider.port}"}
        web = (
            "-m",
            "gunicorn",
            "-c",
            "python:evalhub.work.processes.web",
            "--bind",
            f"127.0.0.1:{port}",
        )
        stack.enter_context(running(folder / "log", *web, "evalhub.wsgi:application", **start))
        stack.enter_context(running(folder / "log", "manage.py", "worker", **start))
        eventually(lambda: programs.is_answering("127.0.0.1", port), "the site", 60)
        for path in paths * ALONE:
            alone.ask(port, "GET", path, None, readers[0])

        model = factories.make_model(
            litellm_model="openai/scripted", api_base=provider.base_url, max_concurrency=8
        )
        with transaction.atomic():
            template, issue = factories.make_template(), factories.make_issue()
            tests = [
                factories.make_test(f"Question {n}?", template=template, issue=issue)
                for n in range(TESTS_AT_WORK)
            ]
            runs = [factories.make_run(*tests, model=model) for _ in range(2)]
        enqueue_task()
        ends_at = time.monotonic() + SECONDS

        def read(headers: dict[str, str], dice: random.Random) -> None:
            while time.monotonic() < ends_at:
                reads.ask(port, "GET", dice.choice(paths), None, headers)
                time.sleep(dice.uniform(*THINK_S))

        def annotate(headers: dict[str, str], dice: random.Random) -> None:
            while time.monotonic() < ends_at:
                with lock:
                    verdict = next(given)
                if writes.ask(port, "POST", "/api/v1/human-evaluations/", verdict, headers):
                    acknowledged.append(verdict["result"])
                time.sleep(dice.uniform(*THINK_S))

        at_once(
            [
                *(lambda h=h, n=n: read(h, random.Random(n)) for n, h in enumerate(readers)),
                *(lambda h=h, n=n: annotate(h, random.Random(n)) for n, h in enumerate(annotators)),
            ]
        )

        def are_done() -> bool:
            for run in runs:
                run.refresh_from_db(fields=["state"])
            return all(run.state == BatchState.DONE for run in runs)

        eventually(are_done, "the end of both runs", 300)
    return {
        "reads": len(reads.took_ms),
        "writes": len(writes.took_ms),
        "acknowledged": len(acknowledged),
        "saved": HumanEvaluation.objects.count() - before,
        "problems": [*alone.problems, *reads.problems, *writes.problems],
        "alone_p95_ms": alone.percentile(0.95),
        "read_p50_ms": reads.percentile(0.5),
        "read_p95_ms": reads.percentile(0.95),
        "write_p95_ms": writes.percentile(0.95),
    }


if __name__ == "__main__":
    place = Path(sys.argv[1])
    prepare(place)
    sys.stdout.write(json.dumps(measure(place)))
