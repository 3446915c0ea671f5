"""Flaky tests: those that passed in some of their repeats and failed in others."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q
from django.db.models.fields.json import KeyTransform

from evalhub.models import User
from issues.models import Issue, Revision
from reports.queries.result_rows import TEXT, prompt_of
from runs.models import Outcome, Result, Run

MOST = 200


@dataclass(frozen=True)
class FlakyTest:
    """A test of which `passed` of `n` scored repeats passed: neither none nor all.

    `prompt` is None where the reader may not read the test.
    """

    test_id: int
    issue_id: int
    issue: str
    passed: int
    n: int
    prompt: str | None


@dataclass(frozen=True)
class FlakyTests:
    """`total` of `repeated` tests, those with two or more scored repeats, are flaky.

    `tests` are the ones nearest to half and half, at most 200.
    """

    total: int
    repeated: int
    tests: tuple[FlakyTest, ...]


def flaky_tests_of(run: Run, reader: User) -> FlakyTests | None:
    """Return None where the run asks each test once."""
    if run.repeats < 2:
        return None
    rows = Result.objects.filter(run=run).order_by().values("test_id", "issue_id", "revision_id")
    counted = rows.annotate(
        passed=Count("pk", filter=Q(outcome=Outcome.PASSED)),
        n=Count("pk", filter=Q(outcome__in=[Outcome.PASSED, Outcome.FAILED])),
    )
    fields = ("test_id", "issue_id", "revision_id", "passed", "n")
    repeated = list(counted.filter(n__gt=1).values_list(*fields))
    unsteady = sorted((row for row in repeated if 0 < row[3] < row[4]), key=_most_unsteady)
    return FlakyTests(len(unsteady), len(repeated), _named(unsteady[:MOST], reader))


Counted = tuple[int, int, int, int, int]
"""Test, issue, revision, passed repeats, scored repeats."""


def _most_unsteady(row: Counted) -> tuple[float, int, int]:
    test, _, _, passed, n = row
    return (abs(passed / n - 0.5), -n, test)


def _named(rows: Sequence[Counted], reader: User) -> tuple[FlakyTest, ...]:
    issues = Issue.objects.filter(pk__in={row[1] for row in rows})
    titles = dict(issues.order_by().values_list("pk", "title"))
    readable = Revision.objects.filter(pk__in=[row[2] for row in rows]).readable_by(reader)
    asked = dict(readable.order_by().values_list("pk", KeyTransform("messages", "content")))
    return tuple(
        FlakyTest(
            test,
            issue,
            titles[issue],
            passed,
            n,
            prompt_of(asked[revision])[:TEXT] if revision in asked else None,
        )
        for test, issue, revision, passed, n in rows
    )
