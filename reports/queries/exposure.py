"""Results by the exposure of their tests: open, sealed, or exposed before the run."""

from collections.abc import Collection, Iterable
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from evalhub.models import Exposure, ExposureKind
from issues.models import Test
from runs.figures.tallies import Tally, tallies_of_runs, tallies_over
from runs.models import Result

OPEN, SEALED, NEVER, EXPOSED = "open", "sealed", "never", "exposed"
CHOICES = (
    ("", "All tests"),
    (OPEN, "Open tests"),
    (SEALED, "Sealed tests"),
    (NEVER, "Sealed, never exposed before the run"),
    (EXPOSED, "Sealed, exposed before the run"),
)
"""Choices of tests for a report, with their labels."""

DEFINITION = (
    "A sealed test counts as exposed if, before the run was created, its text was revealed to a "
    "person, sent to any endpoint outside the trusted network, or open to all readers. Sending "
    "it in the run itself does not count. Tests count as sealed or open by their present state."
)


def tallies_of_tests(runs: Collection[int], tests: str, which: Q | None = None) -> list[Tally]:
    """Count what judges said of these runs, of a value of `CHOICES`.

    Tallies do not tell exposures apart, which depend on the present state of a test. Sealed tests,
    of which there are few, are counted from their results, and open ones are all but these.
    """
    if not tests:
        return tallies_of_runs(runs, which, of_judges=True)
    if tests == OPEN:
        every = tallies_of_runs(runs, which, of_judges=True)
        return less(every, tallies_of_tests(runs, SEALED, which))
    rows = Result.objects.filter(which or Q(), run__in=runs, test__in=_sealed())
    return tallies_over(only(rows, tests), of_judges=True)


def less(every: Iterable[Tally], some: Iterable[Tally]) -> list[Tally]:
    """Return the tallies of the results that are not in some of them."""
    parts = {tally.key: tally for tally in some}
    pairs = ((one, parts.get(one.key)) for one in every)
    left = (one.without(part) if part else one for one, part in pairs)
    return [tally for tally in left if tally.total]


def _sealed() -> list[int]:
    return list(Test.objects.filter(sealed=True).order_by().values_list("pk", flat=True))


def version_of_tests(runs: Collection[int], tests: str) -> list[Any]:
    """Return what else than their results tells the tests of a choice, as JSON; a query at most."""
    if not tests:
        return []
    rows = Result.objects.filter(run__in=runs, test__in=_sealed())
    kinds = rows.annotate(is_exposed=was_exposed()).order_by("run", "test")
    return [tests, list(kinds.values_list("run", "test", "is_exposed").distinct())]


def was_exposed() -> Exists:
    """Return a condition on results: the test was exposed before the run was created."""
    made = OuterRef("run__created_at")
    opened = Q(kind=ExposureKind.OPENED)
    earlier = opened & Q(day__lte=OuterRef("run__created_at__date")) | ~opened & Q(
        created_at__lt=made
    )
    return Exists(Exposure.objects.filter(earlier, test=OuterRef("test_id")).order_by())


def only(rows: QuerySet[Result], tests: str) -> QuerySet[Result]:
    """Filter results by a value of `CHOICES`; "" keeps all."""
    if not tests:
        return rows
    rows = rows.filter(test__sealed=tests != OPEN)
    if tests in (OPEN, SEALED):
        return rows
    return rows.filter(was_exposed() if tests == EXPOSED else ~was_exposed())
