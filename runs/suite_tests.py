"""The tests of a suite, now and at each launch."""

from collections.abc import Iterable

from django.db import transaction

from evalhub.display.formatting import counted
from issues.models import Test
from issues.models.test import TestQuerySet
from issues.test_filter import FilterRefused, read_filter
from runs.models import Suite, SuiteVersion


def tests_in(suite: Suite) -> TestQuerySet:
    """Return the tests of a suite: of a living one those that match its filter now.

    None where the filter is refused; `filter_problem` says why.
    """
    if not suite.filter:
        return Test.objects.filter(suites=suite)
    try:
        return read_filter(suite.filter).tests
    except FilterRefused:
        return Test.objects.none()


def filter_problem(suite: Suite) -> str:
    """Return why the suite's filter no longer finds tests; "" if it does or there is none."""
    try:
        if suite.filter:
            read_filter(suite.filter)
    except FilterRefused as refused:
        return f"The filter of the suite “{suite}” no longer works. {refused}"
    return ""


def filter_words(suite: Suite) -> str:
    """Return the suite's filter in words; "" for a suite of fixed tests."""
    try:
        return str(read_filter(suite.filter)) if suite.filter else ""
    except FilterRefused as refused:
        return str(refused)


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
