"""Make suites from tests that were selected elsewhere, or add these to a suite."""

from collections.abc import Iterable

from django.db import transaction

from evalhub.access.models import User
from evalhub.history import save_signed, sign
from issues.models import Test
from runs.models import Suite

SELECTED = "Tests added from a selection"


@transaction.atomic
def make_suite(name: str, tests: Iterable[Test] = (), *, test_filter: str = "", by: User) -> Suite:
    """Create a suite of tests, or a living one whose launches take what matches a filter then."""
    suite = Suite(name=name, filter=test_filter)
    save_signed(suite, by, f"Made from a {'filter' if test_filter else 'selection'}")
    suite.tests.set(tests)
    return suite


@transaction.atomic
def add_to_suite(
    suite: Suite, tests: Iterable[Test], *, by: User | None, reason: str = SELECTED
) -> int:
    """Add tests to a suite; return the number that it did not have."""
    known = set(suite.tests.values_list("pk", flat=True))
    new = [test for test in tests if test.pk not in known]
    if new:
        sign(suite, by, reason)
        suite.tests.add(*new)
    return len(new)
