"""Taking and submitting in a review queue at two sizes, on SQLite in the same process. Prints JSON.

Half of what each reviewer meets first they have reviewed already, so that what is not offered to
them counts too.
"""

import json
import sys
import time
from statistics import median
from typing import Any

from tests.bench.evalhub_calls import prepare

ROUNDS = 40
SMALL, LARGE = 1_000, 100_000
DONE = 500
"""Items at the head of the queue that the reviewer has reviewed, as the second of two."""


def make_queue(size: int) -> Any:
    """A queue of so many unreviewed results, two reviewers for each; and who reviews."""
    from django.utils import timezone

    from runs.review.models import Assignment, AssignmentState
    from tests import factories
    from tests.runs.review.large_queue import large_queue_of

    queue, person = large_queue_of(size, reviewers=2), factories.make_user("annotator")
    first = Assignment.objects.filter(queue=queue, number=2).order_by("position")[:DONE]
    done = Assignment.objects.filter(pk__in=list(first.values_list("pk", flat=True)))
    done.update(state=AssignmentState.SUBMITTED, annotator=person, submitted_at=timezone.now())
    return queue, person


def measure(size: int) -> dict[str, float]:
    """Queries of one round of taking and submitting, and the median milliseconds of forty."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from runs.review.reservations import take
    from tests.runs.review.rows import review

    queue, person = make_queue(size)

    def once() -> float:
        started = time.perf_counter()
        review(take(queue, by=person))
        return 1000 * (time.perf_counter() - started)

    once()
    median_ms = median(once() for _ in range(ROUNDS))
    with CaptureQueriesContext(connection) as queries:
        once()
    return {"queries": len(queries), "median_ms": median_ms}


if __name__ == "__main__":
    prepare(sys.argv[1], port=1)
    found = {str(size): measure(size) for size in (SMALL, LARGE)}
    sys.stdout.write(json.dumps(found))
