"""The tests of a suite, now and at each launch."""

from collections.abc import Iterable
from typing import NamedTuple

from django.db import transaction

from evalhub.display.formatting import counted
from issues.models import Test
from issues.models.test import TestQuerySet
from issues.test_filter import FilterRefused, read_filter
from runs.models import Suite, SuiteVersion


class SuiteTests(NamedTuple):
    """Tests of a suite: of a living one those that match its filter now.

    Attributes:
        words: The filter, or why it is refused; "" for a suite of fixed tests.
        problem: Why the filter no longer finds tests; "" if it does or there is none.
    """

    tests: TestQuerySet
    words: str = ""
    problem: str = ""


def read_suite(suite: Suite) -> SuiteTests:
    if not suite.filter:
        return SuiteTests(Test.objects.filter(suites=suite))
    try:
        found = read_filter(suite.filter)
    except FilterRefused as refused:
        why = str(refused.message)
        problem = f"The filter of the suite “{suite}” no longer works. {why}"
        return SuiteTests(Test.objects.none(), why, problem)
    return SuiteTests(found.tests, str(found))


def tests_in(suite: Suite) -> TestQuerySet:
    return read_suite(suite).tests


@transaction.atomic
def fix_version(suite: Suite, launched: Iterable[Test]) -> SuiteVersion:
    """Return the version of the suite that a launch of these tests runs, new if it differs.

    Args:
        launched: Tests of the launch; those that belong to the suite make its version.
    """
    Suite.objects.select_for_update(of=("self",)).get(pk=suite.pk)
    own = set(tests_in(suite).order_by().values_list("pk", flat=True))
    tests = sorted(test.pk for test in launched if test.pk in own)
    last = suite.versions.first()
    if last is not None and last.tests == tests:
        return last
    number = last.number + 1 if last else 1
    return SuiteVersion.objects.create(suite=suite, number=number, tests=tests)


def version_words(version: SuiteVersion) -> str:
    """Return what it holds: "version 3: 42 tests, +2 −1 since version 2"."""
    words = f"version {version.number}: {counted(len(version.tests), 'test')}"
    change = change_words(version)
    return f"{words}, {change}" if change else words


def change_words(version: SuiteVersion) -> str:
    """Return the change since the version before, "" for the first; one query."""
    before = version.suite.versions.filter(number=version.number - 1).first()
    if before is None:
        return ""
    added = len(set(version.tests) - set(before.tests))
    removed = len(set(before.tests) - set(version.tests))
    return f"+{added:,} −{removed:,} since version {before.number}"
