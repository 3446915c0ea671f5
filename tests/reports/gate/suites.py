"""Suites with a baseline and a later run of the same tests, by the same jury."""

from typing import Any

from issues.models import Issue, Test
from runs.models import Run, Suite
from tests.factories import make_tests
from tests.reports.judged_runs import judged

PASS, FAIL = [1.0], [0.0]


def suite_of(
    before: str, after: str, *, issue: Issue | None = None, **fields: Any
) -> tuple[Run, Run]:
    """A baseline "March" and a run "April"; one letter for each test: p(assed) or f(ailed).

    Args:
        issue: Of all tests; without it each has an issue of its own.
        fields: Of the later run.
    """
    suite = Suite.objects.create(name="Everyday questions")
    tests = make_tests(len(before), **({"issue": issue} if issue else {}))
    first = judged(*votes(before), tests=tests, suite=suite, label="March")
    suite.baselines.add(first)
    return first, judged(*votes(after), tests=tests, suite=suite, label="April", **fields)


def votes(outcomes: str) -> list[list[float]]:
    return [PASS if outcome == "p" else FAIL for outcome in outcomes]


def run_tests(run: Run) -> list[Test]:
    return [result.test for result in run.results.order_by("pk")]
