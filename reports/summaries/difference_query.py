"""Test the difference of two models that a claim names, on the tests that both have scored."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from evalhub.statistics.changes.change_test import change_test
from reports.summaries.claims import Bound, Evidence, variants_of
from reports.summaries.content import DifferenceResult
from reports.summaries.figure_table import ALL_TESTS, FigureTable, Place
from reports.summaries.key import Key, Variant
from runs.comparability import comparability_of_pairs
from runs.models import Outcome, Result, Run, TagSet

CHANGED = "Results have changed since the request: regenerate the summary to compare them."

DELETED = "Its runs were deleted since the request."


class Share(NamedTuple):
    """The share of a test's scored results that passed, and its issue."""

    share: float
    issue: int


@dataclass(frozen=True)
class DifferenceTests:
    """Test differences of the summary of these runs; called with the cells of a claim."""

    runs: Sequence[Run]
    key: Key
    table: FigureTable

    def __call__(self, bound: Bound) -> DifferenceResult:
        """Return the evidence for a difference of models, or why they may not be compared.

        p is multiplied by the number of comparisons that could have been claimed (Bonferroni),
        since the analyst picks the largest ones.
        """
        assert bound.other is not None
        first, second = variants_of(bound, self.key)
        if reason := self._reason(first, second):
            return DifferenceResult(problem=reason)
        one, other = self._shares(first, bound.cell), self._shares(second, bound.other)
        if one is None or other is None:
            return DifferenceResult(problem=CHANGED)
        both = sorted(one.keys() & other.keys())
        answers = [
            sum(run.repeats for run in self.runs if run.pk in variant.runs)
            for variant in (first, second)
        ]
        found = change_test(
            [one[test].share - other[test].share for test in both],
            [one[test].issue for test in both],
            single=answers == [1, 1],
        )
        n = max(1, self.table.comparisons)
        p = None if found.p is None else min(1.0, n * found.p)
        return DifferenceResult(Evidence(p, found.rule, n, len(both), found.caveat))

    def _reason(self, first: Variant, second: Variant) -> str:
        """Return why these two may not be compared; "" if they may."""
        if {*first.runs, *second.runs} - {run.pk for run in self.runs}:
            return DELETED
        compared = comparability_of_pairs(product(first.runs, second.runs))
        return next((found.reason for found in compared.values() if not found), "")

    def _shares(self, variant: Variant, place: Place) -> dict[int, Share] | None:
        """Return the share of each scored test that passed, and its issue, by test.

        None: they are not those of the cell any more.
        """
        rows = Result.objects.filter(
            run__in=variant.runs, outcome__in=(Outcome.PASSED, Outcome.FAILED)
        )
        if place.group != ALL_TESTS:
            title = self.key.groups[place.group]
            sets = TagSet.objects.filter(results__run__in=variant.runs).distinct()
            rows = rows.filter(tag_set__in=[one.pk for one in sets if title in one.names])
        outcomes: dict[int, list[bool]] = defaultdict(list)
        issues: dict[int, int] = {}
        for test, issue, outcome in rows.order_by().values_list("test", "issue", "outcome"):
            outcomes[test].append(outcome == Outcome.PASSED)
            issues[test] = issue
        cell = self.table.cells[place]
        counted = [passed for some in outcomes.values() for passed in some]
        if (sum(counted), len(counted)) != (cell.passed, cell.scored):
            return None
        return {test: Share(sum(some) / len(some), issues[test]) for test, some in outcomes.items()}
