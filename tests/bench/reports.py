"""Every report's page against an empty one, on the ledger of the environment. Prints JSON.

A page's first request is measured: nothing that takes long is kept yet. In turns with it come the
page of settings, which has the same frame and reads nothing of the ledger, and the page's own
queries alone, with all their rows read.
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
Statement = tuple[str, Any]


@dataclass(frozen=True)
class Measured:
    """One page: how many queries it makes, and medians of its times; `p95_ms` is the page's.

    Attributes:
        status: The HTTP status; nothing is measured of a page that has another one than 200.
        empty_ms: The page of settings.
        bare_ms: The page's queries alone.
    """

    page: str
    status: int
    queries: int = 0
    empty_ms: float = 1
    bare_ms: float = 0
    page_ms: float = 0
    p95_ms: float = 0

    @property
    def ratio(self) -> float:
        """The 95th percentile as a multiple of the empty page."""
        return self.p95_ms / self.empty_ms


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
    from django.test import Client
    from django.urls import reverse

    client = Client(HTTP_HOST="localhost", raise_request_exception=False)
    client.force_login(reader())
    status = client.get(address).status_code
    if status != OK:
        return Measured(name, status)
    statements = statements_of(client, address)
    empty_ms, bare_ms, page_ms = [], [], []
    for _ in range(rounds):
        forget()
        empty_ms.append(timed(lambda: client.get(reverse("admin:settings"))))
        forget()
        page_ms.append(timed(lambda: client.get(address)))
        bare_ms.append(timed(lambda: send(statements)))
    p95_ms = quantiles(page_ms, n=20, method="inclusive")[-1]
    return Measured(
        page=name,
        status=status,
        queries=len(statements),
        empty_ms=median(empty_ms),
        bare_ms=median(bare_ms),
        page_ms=median(page_ms),
        p95_ms=p95_ms,
    )


def reader() -> Any:
    from evalhub.models import User

    found = User.objects.filter(username="bench").first()
    return found or User.objects.create_superuser("bench")


def forget() -> None:
    """Nothing that was computed before is kept."""
    from django.core.cache import caches

    for cache in caches.all(initialized_only=True):
        cache.clear()


def statements_of(client: Any, address: str) -> list[Statement]:
    """The queries of one request of the page."""
    from django.db import connection

    found: list[Statement] = []

    def write_down(execute, sql, params, many, context):
        found.append((sql, params))
        return execute(sql, params, many, context)

    forget()
    with connection.execute_wrapper(write_down):
        client.get(address)
    return found


def send(statements: list[Statement]) -> None:
    """Those of the queries that read, alone, with all their rows."""
    from django.db import connection

    with connection.cursor() as cursor:
        for sql, params in statements:
            if sql.lstrip("( \n").startswith(("SELECT", "WITH")):
                cursor.execute(sql, params)
                cursor.fetchall()


def timed(act: Any) -> float:
    started = time.perf_counter()
    act()
    return 1000 * (time.perf_counter() - started)


def main(wanted: list[str]) -> None:
    """Measure all pages, or those whose names begin with one of the arguments."""
    import_module("evalhub.wsgi")  # as the server does
    found = [
        measure(name, address)
        for name, address in addresses().items()
        if not wanted or any(name.startswith(word) for word in wanted)
    ]
    sys.stdout.write(json.dumps([asdict(one) for one in found]))


if __name__ == "__main__":
    main(sys.argv[1:])
