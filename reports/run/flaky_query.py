"""Flaky tests: those that passed in some of their repeats and failed in others."""

from dataclasses import dataclass

from django.db.models import Count, Q
from django.db.models.fields.json import KeyTransform

from evalhub.models import User
from issues.models import Revision
from reports.limits import MAX_FLAKY_TESTS
from reports.queries.names import titles
from reports.queries.result_rows import TEXT
from runs.models import Outcome, Result, Run
from runs.result_list.listing import prompt_of


@dataclass(frozen=True)
class FlakyTest:
    """A test of which `passed` of `n` scored repeats passed: neither none nor all.

    `prompt` is None where the reader may not read the test.
    """

    test_id: int
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
    rows = Result.objects.filter(run=run).order_by().values_list("test", "issue", "revision")
    counted = rows.annotate(
        passed=Count("pk", filter=Q(outcome=Outcome.PASSED)),
        n=Count("pk", filter=Q(outcome__in=[Outcome.PASSED, Outcome.FAILED])),
    )
    repeated = list(counted.filter(n__gt=1))
    flaky = [row for row in repeated if 0 < row[3] < row[4]]
    flaky.sort(key=lambda row: (abs(row[3] / row[4] - 0.5), -row[4], row[0]))
    shown = flaky[:MAX_FLAKY_TESTS]
    title_of = titles({row[1] for row in shown})
    readable = Revision.objects.filter(pk__in=[row[2] for row in shown]).readable_by(reader)
    messages = dict(readable.order_by().values_list("pk", KeyTransform("messages", "content")))
    prompts = {pk: prompt_of(found)[:TEXT] for pk, found in messages.items()}
    tests = tuple(
        FlakyTest(test, title_of[issue], passed, n, prompts.get(revision))
        for test, issue, revision, passed, n in shown
    )
    return FlakyTests(len(flaky), len(repeated), tests)
