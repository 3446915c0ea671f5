"""Every report's page against its own bare SQL, on the ledger of the environment. Prints JSON.

A page's first request is measured: nothing that takes long is kept yet. Its queries are written
down once, and then sent again alone, with all their rows read, in turns with the page itself.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass
from importlib import import_module
from statistics import median, quantiles
from typing import Any

ROUNDS = 15
RATIO, EXTRA_MS, INSTANT_MS, MOST_MS = 1.5, 50, 100, 1000
"""A page may take so many times its bare SQL, and so much more; or what readers feel as instant,
however little its SQL takes; and at p95 never longer than the last."""

OK = 200
Statement = tuple[str, Any]


@dataclass(frozen=True)
class Measured:
    """One page: how many queries it makes, and medians of its times; `p95_ms` is the page's.

    `status` is the HTTP status; nothing is measured of a page that has another one than 200.
    """

    page: str
    status: int
    queries: int = 0
    bare_ms: float = 0
    page_ms: float = 0
    p95_ms: float = 0

    @property
    def bound_ms(self) -> float:
        return max(RATIO * self.bare_ms + EXTRA_MS, INSTANT_MS)

    @property
    def holds(self) -> bool:
        in_time = self.page_ms <= self.bound_ms and self.p95_ms <= MOST_MS
        return self.status == OK and in_time


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


def measure(name: str, address: str) -> Measured:
    from django.test import Client

    client = Client(HTTP_HOST="localhost", raise_request_exception=False)
    client.force_login(reader())
    status = client.get(address).status_code
    if status != OK:
        return Measured(name, status)
    statements = statements_of(client, address)
    bare_ms, page_ms = [], []
    for _ in range(ROUNDS):
        forget()
        page_ms.append(timed(lambda: client.get(address)))
        bare_ms.append(timed(lambda: send(statements)))
    p95_ms = quantiles(page_ms, n=20, method="inclusive")[-1]
    return Measured(name, status, len(statements), median(bare_ms), median(page_ms), p95_ms)


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
