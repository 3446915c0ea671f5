"""The run's page at two sizes: its queries and the median CPU time of a request. Prints JSON.

The database is SQLite, in the same process: its work is in the figure, and no other process's is.
"""

import json
import sys
import time
from random import Random
from statistics import median

from tests.bench.evalhub_calls import prepare

REQUESTS = 9
ISSUES = 50
SMALL, LARGE = 100, 10_000


def make_run(size: int) -> int:
    """A finished run with so many results over 50 issues, judged by three; its id."""
    from issues.models import Test
    from runs.models import Result
    from tests import factories
    from tests.reports import judged_runs

    template = factories.make_template()
    issues = [factories.make_issue(tags=(f"tag {n % 10}",)) for n in range(ISSUES)]
    prototype = factories.make_test(template=template, issue=issues[0])
    blank = {
        f.name: getattr(prototype, f.name) for f in Test._meta.concrete_fields if f.name != "id"
    }
    tests = Test.objects.bulk_create(
        Test(
            **blank
            | {
                "issue": issues[n % ISSUES],
                "messages": [{"role": "user", "content": f"Question {n}?"}],
            }
        )
        for n in range(size)
    )
    jury = factories.make_jury(*[factories.make_model() for _ in range(3)])
    run = factories.make_run(
        *Test.objects.filter(pk__in=[t.pk for t in tests]).prefetch_related("issue__tags"),
        jury=jury,
    )
    judged_runs.answer(run, input_tokens=20, output_tokens=40, latency_ms=900)
    random = Random(size)
    judged_runs.judge(run, [[float(random.random() < 0.7) for _ in range(3)] for _ in range(size)])
    judged_runs.finish(run)
    assert Result.objects.filter(run=run).exclude(score=None).count() == size
    return run.pk


def measure(run_id: int) -> dict[str, float]:
    """Queries of one request, and the median CPU milliseconds of nine."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.urls import reverse

    from evalhub.models import User

    client, address = Client(HTTP_HOST="localhost"), reverse("reports:run", args=[run_id])
    client.force_login(User.objects.get(username="bench"))
    assert client.get(address).status_code == 200
    times = []
    for _ in range(REQUESTS):
        started = time.process_time()
        client.get(address)
        times.append(1000 * (time.process_time() - started))
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    return {"queries": len(queries), "median_ms": median(times)}


if __name__ == "__main__":
    prepare(sys.argv[1], port=1)
    from tests import factories

    factories.make_user("superuser", username="bench")
    found = {str(size): measure(make_run(size)) for size in (SMALL, LARGE)}
    sys.stdout.write(json.dumps(found))
