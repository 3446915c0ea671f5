"""Several runs test by test: the tests they have, and their outcomes in each run."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Max, Q, QuerySet

from evalhub.models import User
from evalhub.work.models import ItemQuerySet
from reports.compare.matching_rule import Tested
from reports.compare.query import GROUPS, SUMS, saying
from runs.figures.tallies import Counts
from runs.models import Outcome, Result, Run, TagSet

SCORED = Q(outcome__in=(Outcome.PASSED, Outcome.FAILED))


class TestRow(NamedTuple):
    """A revision of a test in several runs.

    `passed` of `scored` results, over all `runs` that have it.
    """

    revision_id: int
    test_id: int
    issue_id: int
    tag_set_id: int
    runs: int
    passed: int
    scored: int


@dataclass(frozen=True)
class TestFilter:
    """A filter of tests. `shared`: only tests of all runs."""

    tag: str = ""
    issue: int | None = None
    words: str = ""
    shared: bool = False


@dataclass(frozen=True)
class Total:
    """The results of one run on the tests shown; `absent` counts tests it does not have."""

    absent: int
    counts: Counts
    overridden: int


class SideBySide:
    """The tests of some runs, those with mixed outcomes first."""

    def __init__(self, runs: Sequence[Run], wanted: TestFilter, reader: User) -> None:
        self.runs = runs
        self.wanted = wanted
        self.reader = reader

    def tests(self) -> list[TestRow]:
        """Return the tests shown: mixed outcomes first, then never passed; two queries."""
        rows = self._revisions().annotate(
            test=Max("test_id"),
            issue=Max("issue_id"),
            tags=Max("tag_set_id"),
            passed=Count("pk", filter=Q(outcome=Outcome.PASSED)),
            scored=Count("pk", filter=SCORED),
        )
        names = ("revision_id", "test", "issue", "tags", "in_runs", "passed", "scored")
        return sorted(map(TestRow._make, rows.values_list(*names)), key=_differing_first)

    def cells(self, revisions: Collection[int]) -> dict[int, dict[int, Tested]]:
        """Return the results by revision, then by run; one query."""
        rows = Result.objects.filter(run__in=self.runs, revision__in=revisions).order_by()
        counted = rows.values(*GROUPS).annotate(**SUMS).values_list(*GROUPS, *SUMS)
        found: dict[int, dict[int, Tested]] = defaultdict(dict)
        for run, *tested in counted:
            found[tested[0]][run] = Tested(*tested)
        return found

    def totals(self, shown: int) -> dict[int, Total]:
        """Return the totals by run; one query.

        Args:
            shown: Number of tests shown.
        """
        rows = (
            self._shown()
            .values("run_id")
            .annotate(
                tests=Count("revision", distinct=True),
                overridden=Count("pk", filter=Q(is_overridden=True)),
                **{f"n_{name}": Count("pk", filter=Q(outcome=name)) for name in Outcome.values},
            )
        )
        names = ("run_id", "tests", "overridden", *(f"n_{name}" for name in Outcome.values))
        totals = {run.pk: Total(shown, Counts(), 0) for run in self.runs}
        for run, tests, overridden, *counts in rows.values_list(*names):
            outcomes = Counts(**dict(zip(Outcome.values, counts, strict=True)))
            totals[run] = Total(shown - tests, outcomes, overridden)
        return totals

    def by_issue(self, runs: Sequence[Run]) -> dict[int, dict[int, tuple[int, int]]]:
        """Count passed results by run and issue; one query.

        Returns:
            (passed, scored) by run and issue, with scored above 0.
        """
        rows = self._shown().filter(run__in=runs).values("run_id", "issue_id")
        counted = rows.annotate(
            passed=Count("pk", filter=Q(outcome=Outcome.PASSED)),
            scored=Count("pk", filter=SCORED),
        ).filter(scored__gt=0)
        found: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
        rows_of = counted.values_list("run_id", "issue_id", "passed", "scored")
        for run, issue, passed, scored in rows_of:
            found[run][issue] = (passed, scored)
        return found

    def _shown(self) -> ItemQuerySet:
        """Return the results of the tests shown."""
        rows = self._results()
        if self.wanted.shared:
            rows = rows.filter(revision__in=self._revisions().values("revision_id"))
        return rows

    def _revisions(self) -> QuerySet[Any, Any]:
        """Return the revisions, each with the number of runs that have it."""
        rows: QuerySet[Any, Any] = self._results().values("revision_id")
        rows = rows.annotate(in_runs=Count("run", distinct=True))
        return rows.filter(in_runs=len(self.runs)) if self.wanted.shared else rows

    def _results(self) -> ItemQuerySet:
        rows = Result.objects.filter(run__in=self.runs).order_by()
        if self.wanted.issue:
            rows = rows.filter(issue=self.wanted.issue)
        if self.wanted.tag:
            sets = TagSet.objects.values_list("pk", "names")
            rows = rows.filter(tag_set__in=[pk for pk, names in sets if self.wanted.tag in names])
        if self.wanted.words:
            used = Result.objects.filter(run__in=self.runs).order_by()
            revisions = used.values_list("revision", flat=True).distinct()
            rows = rows.filter(revision__in=saying(self.wanted.words, revisions, self.reader))
        return rows


def _differing_first(one: TestRow) -> tuple[bool, float, int, int]:
    share = one.passed / one.scored if one.scored else 1.0
    is_mixed = 0 < one.passed < one.scored
    return not is_mixed, share, one.test_id, one.revision_id
