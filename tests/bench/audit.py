"""The audit page over few and many entries, on PostgreSQL. Prints JSON.

Half of the entries are one person's, in turns with another's, a minute apart.
"""

import json
import sys
import time
from datetime import timedelta
from statistics import median
from typing import Any

from tests.bench.evalhub_calls import prepare

ROUNDS = 9
SMALL, LARGE = 10_000, 1_000_000
CHUNK = 20_000


def add_versions(size: int) -> dict[str, str]:
    """Versions of tags, until there are so many; the filters that a page is read with."""
    from django.db import connection
    from django.utils import timezone

    from issues.models import Tag
    from tests import factories

    people = [factories.make_user().pk for _ in range(2)]
    versions, now = Tag.history.model, timezone.now()
    for start in range(versions.objects.count(), size, CHUNK):
        versions.objects.bulk_create(
            versions(
                id=n // 10,
                name=f"tag {n // 10}",
                history_date=now - timedelta(minutes=n),
                history_type="~",
                history_user_id=people[n % 2],
            )
            for n in range(start, min(start + CHUNK, size))
        )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    week = timezone.localdate() - timedelta(days=7)
    return {
        "all": "",
        "of one person": f"?who={people[0]}",
        "of one kind": "?kind=issues.tag",
        "of a week": f"?at_from={week}",
    }


def measure(filters: dict[str, str]) -> dict[str, float]:
    """Median milliseconds of a request with each filter."""
    from django.test import Client
    from django.urls import reverse

    from evalhub.models import User

    client, address = Client(HTTP_HOST="localhost"), reverse("admin:evalhub_auditentry_changelist")
    client.force_login(User.objects.get(username="bench"))

    def once(query: str) -> float:
        started = time.perf_counter()
        response: Any = client.get(address + query)
        assert response.status_code == 200, response.status_code
        return 1000 * (time.perf_counter() - started)

    return {name: median(once(query) for _ in range(ROUNDS + 1)) for name, query in filters.items()}


if __name__ == "__main__":
    prepare(sys.argv[1], port=1)
    from tests import factories

    factories.make_user("superuser", username="bench")
    found = {str(size): measure(add_versions(size)) for size in (SMALL, LARGE)}
    sys.stdout.write(json.dumps(found))
