"""Tests told apart by whether their text could be known: open, sealed, exposed before a run."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from evalhub.models import Exposure, ExposureKind
from runs.models import Result

OPEN, SEALED, NEVER, EXPOSED = "open", "sealed", "never", "exposed"
CHOICES = (
    ("", "All tests"),
    (OPEN, "Open ones"),
    (SEALED, "Sealed ones"),
    (NEVER, "Sealed, never exposed before the run"),
    (EXPOSED, "Sealed, exposed before the run"),
)
"""Which tests a report is about."""

DEFINITION = (
    "A sealed test counts as exposed if, before the run was made, its text was revealed to a "
    "person, sent to any endpoint outside the trusted network, or open to all readers. What the "
    "run itself sends comes later. Tests are sealed or open as they are now."
)


def was_exposed() -> Exists:
    """Whether a result's test was exposed to anyone before its run was made."""
    made = OuterRef("run__created_at")
    opened = Q(kind=ExposureKind.OPENED)
    earlier = opened & Q(day__lte=OuterRef("run__created_at__date")) | ~opened & Q(
        created_at__lt=made
    )
    return Exists(Exposure.objects.filter(earlier, test=OuterRef("test_id")).order_by())


def only(rows: QuerySet[Result], tests: str) -> QuerySet[Result]:
    """The results whose tests are of this choice; "" is all of them."""
    if not tests:
        return rows
    rows = rows.filter(test__sealed=tests != OPEN)
    if tests in (OPEN, SEALED):
        return rows
    return rows.filter(was_exposed() if tests == EXPOSED else ~was_exposed())
