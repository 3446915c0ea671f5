"""Every report's page against an empty one, on the data of the environment. Prints JSON.

A page's first request is measured: nothing that takes long is cached yet. In turns with it comes
the page of settings, which has the same frame and reads none of the data.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass
from importlib import import_module
from statistics import median, quantiles
from typing import Any

ROUNDS = 15
OK = 200


@dataclass(frozen=True)
class Measured:
    """One page: its queries, the median of its CPU and the 95th percentile of its time.

    Attributes:
        status: The HTTP status; nothing is measured of a page that has another one than 200.
        empty_cpu_ms: The CPU of the page of settings.
    """

    page: str
    status: int
    queries: int = 0
    empty_cpu_ms: float = 0
    cpu_ms: float = 0
    p95_ms: float = 0


def addresses() -> dict[str, str]:
    """The pages to measure, by name: those that every ledger has, and all registered reports."""
    from django.urls import reverse

    from issues.models import Issue
    from reports.documents.links import page_url
    from reports.registry import PAGES
    from runs.models import Run

    newest = list(Run.objects.filter(suite__name="Everything").order_by("-pk"))
    before = next(run for run in newest[1:] if run.variant_key == newest[0].variant_key)
    one_model = [run for run in newest if run.variant_key == newest[0].variant_key]
    found = {
        "home": reverse("admin:index"),
        "runs": reverse("admin:runs_run_changelist"),
        "run": reverse("reports:run", args=[newest[0].pk]),
    }
    states: dict[str, dict[str, dict[str, Any]]] = {
        "compare": {
            "two runs": {"runs": [before, newest[0]]},
            "many runs": {"runs": one_model[:6]},
        },
        "issue": {"": {"issue": Issue.objects.order_by("pk")[3]}},
        "heatmap": {"issues": {}, "tags": {"rows": "tag"}},
        "judge_reliability": {tab: {"tab": tab} for tab in ("humans", "trust", "judges")},
    }
    for page in PAGES:
        for name, state in states.get(page.key, {"": {}}).items():
            found[f"{page.key} {name}".strip()] = page_url(page.key, **state)
    return found


def measure(name: str, address: str, rounds: int = ROUNDS) -> Measured:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.urls import reverse

    client = Client(HTTP_HOST="localhost", raise_request_exception=False)
    client.force_login(reader())
    status = client.get(address).status_code
    if status != OK:
        return Measured(name, status)
    forget()
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    number = len(queries)
    empty, page = [], []
    for _ in range(rounds):
        forget()
        empty.append(timed(lambda: client.get(reverse("admin:settings"))))
        forget()
        page.append(timed(lambda: client.get(address)))
    return Measured(
        page=name,
        status=status,
        queries=number,
        empty_cpu_ms=median(cpu_ms for cpu_ms, _ in empty),
        cpu_ms=median(cpu_ms for cpu_ms, _ in page),
        p95_ms=quantiles([ms for _, ms in page], n=20, method="inclusive")[-1],
    )


def reader() -> Any:
    from evalhub.models import User

    found = User.objects.filter(username="bench").first()
    return found or User.objects.create_superuser("bench")


def forget() -> None:
    """Clear all caches."""
    from django.core.cache import caches

    for cache in caches.all(initialized_only=True):
        cache.clear()


def timed(act: Any) -> tuple[float, float]:
    """Return the milliseconds of CPU and of the clock that this takes."""
    cpu, clock = time.process_time(), time.perf_counter()
    act()
    return 1000 * (time.process_time() - cpu), 1000 * (time.perf_counter() - clock)


def main(wanted: list[str]) -> None:
    """Measure all pages, or those whose names begin with one of the arguments."""
    import_module("evalhub.wsgi")  # as the server does
    from tests.bench.scale import count_all

    count_all()
    found = [
        measure(name, address)
        for name, address in addresses().items()
        if not wanted or any(name.startswith(word) for word in wanted)
    ]
    sys.stdout.write(json.dumps([asdict(one) for one in found]))


if __name__ == "__main__":
    main(sys.argv[1:])
