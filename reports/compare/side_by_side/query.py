"""Several runs test by test: the tests they have, and their outcomes in each run."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Max, Q, QuerySet

from evalhub.models import User
from reports.compare.query import with_words
from reports.queries.exposure import only, tallies_of_tests
from runs.comparison.outcomes_by_test import outcomes_in
from runs.comparison.tested_rule import Tested
from runs.figures.tallies import Tally, tallies_over
from runs.models import Outcome, Result, Run, TagSet


class ShownTest(NamedTuple):
    """A test in one revision: in how many runs it is, and its passed and scored results there."""

    revision: int
    test: int
    issue: int
    tag_set: int
    runs: int
    passed: int
    scored: int

    @property
    def is_mixed(self) -> bool:
        return 0 < self.passed < self.scored


@dataclass(frozen=True)
class TestFilter:
    """A filter of tests.

    Attributes:
        shared: Only tests of all runs.
        exposure: One of `reports.queries.exposure.CHOICES`.
    """

    tag: str = ""
    issue: int | None = None
    words: str = ""
    shared: bool = False
    exposure: str = ""


class Total(NamedTuple):
    """Tests shown that a run does not have, and its human verdicts on the others."""

    absent: int
    overridden: int


class SideBySide:
    """The tests of some runs, those with mixed outcomes first."""

    def __init__(self, runs: Sequence[Run], wanted: TestFilter, reader: User) -> None:
        self.runs = runs
        self.wanted = wanted
        self.reader = reader

    def tests(self) -> list[ShownTest]:
        """Return the tests shown: mixed outcomes first, then never passed; two queries."""
        rows = self._revisions().annotate(
            test=Max("test_id"),
            issue=Max("issue_id"),
            tags=Max("tag_set_id"),
            passed=Count("pk", filter=Q(judges_outcome=Outcome.PASSED)),
            scored=Count("pk", filter=Q(judges_outcome__in=(Outcome.PASSED, Outcome.FAILED))),
        )
        names = ("revision_id", "test", "issue", "tags", "in_runs", "passed", "scored")
        return sorted(map(ShownTest._make, rows.values_list(*names)), key=_place)

    def cells(self, revisions: Collection[int]) -> dict[int, dict[int, Tested]]:
        """Return the results by revision, then by run; one query."""
        found: dict[int, dict[int, Tested]] = defaultdict(dict)
        in_runs = outcomes_in([run.pk for run in self.runs], revisions=revisions)
        for run, tests in in_runs.items():
            for tested in tests:
                found[tested.revision_id][run] = tested
        return found

    def totals(self, shown: int) -> dict[int, Total]:
        """Return the totals by run; one query.

        Args:
            shown: Number of tests shown.
        """
        tests, overridden = (
            Count("revision", distinct=True),
            Count("pk", filter=Q(is_overridden=True)),
        )
        rows = self._shown().values("run_id").annotate(tests=tests, overridden=overridden)
        found = {run.pk: Total(shown, 0) for run in self.runs}
        return found | {
            row["run_id"]: Total(shown - row["tests"], row["overridden"]) for row in rows
        }

    def tallies(self) -> list[Tally]:
        """Count the results of the tests shown; tallies of runs cannot tell tests apart."""
        if self.wanted.words or self.wanted.shared:
            return tallies_over(self._shown(), of_judges=True)
        return tallies_of_tests([run.pk for run in self.runs], self.wanted.exposure, self._labels())

    def _shown(self) -> QuerySet[Result]:
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

    def _results(self) -> QuerySet[Result]:
        results = Result.objects.filter(self._labels(), run__in=self.runs).order_by()
        rows = only(results, self.wanted.exposure)
        if self.wanted.words:
            used = Result.objects.filter(run__in=self.runs).order_by()
            revisions = used.values_list("revision", flat=True).distinct()
            rows = rows.filter(revision__in=with_words(self.wanted.words, revisions, self.reader))
        return rows

    def _labels(self) -> Q:
        """Return the conditions on issue and tag."""
        which = Q(issue=self.wanted.issue) if self.wanted.issue else Q()
        if self.wanted.tag:
            which &= Q(tag_set__in=TagSet.with_name(self.wanted.tag))
        return which


def _place(one: ShownTest) -> tuple[bool, float, int, int]:
    share = one.passed / one.scored if one.scored else 1.0
    return not one.is_mixed, share, one.test, one.revision
