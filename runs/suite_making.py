"""Make suites from tests that were selected elsewhere, or add these to a suite."""

from collections.abc import Iterable, Mapping, Sequence

from django.db import transaction
from django.db.models import Q

from evalhub.access.models import User
from evalhub.history import save_signed, sign
from issues.models import Test, TestState
from issues.models.test import TestQuerySet
from issues.tags import tagged
from issues.test_filter import read_filter
from runs.models import Suite

LOOKUPS = {
    "tests": "pk__in",
    "issues": "issue__in",
    "runs": "results__run__in",
    "launches": "results__run__launch__in",
}
KINDS = (*LOOKUPS, "tags")
"""Kinds of rows that name tests, most by their path from a test."""


def tests_of(chosen: Mapping[str, Sequence[int]], *, reader: User) -> TestQuerySet:
    """Return the tests named by rows of `KINDS`, of those that the reader may see.

    Deprecated ones, which never run, are left out.
    """
    keys: set[int] = set()
    for kind, ids in chosen.items():
        if ids:
            found = Test.objects.filter(
                tagged(ids) if kind == "tags" else Q(**{LOOKUPS[kind]: ids})
            )
            keys.update(found.order_by().values_list("pk", flat=True))
    tests = Test.objects.readable_by(reader).filter(pk__in=keys)
    return tests.exclude(state=TestState.DEPRECATED).order_by("pk")


@transaction.atomic
def make_suite(name: str, tests: Iterable[Test], *, by: User) -> Suite:
    suite = Suite(name=name)
    save_signed(suite, by, "Made from a selection")
    suite.tests.set(tests)
    return suite


@transaction.atomic
def make_living_suite(name: str, query: str, *, by: User) -> Suite:
    """Create a suite whose launches take the tests that match a filter then.

    Raises:
        FilterRefused: The list of tests knows no such filter.
    """
    suite = Suite(name=name, filter=read_filter(query, by=by).query)
    return save_signed(suite, by, "Made from a filter")


@transaction.atomic
def add_to_suite(suite: Suite, tests: Iterable[Test], *, by: User) -> int:
    """Add tests to a suite; return the number that it did not have."""
    known = set(suite.tests.values_list("pk", flat=True))
    new = [test for test in tests if test.pk not in known]
    sign(suite, by, "Tests added from a selection")
    suite.tests.add(*new)
    return len(new)
