"""Results counted by run, tags, issue and outcome as an array of whole numbers.

Reports that draw many runs need tens of thousands of counts.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeVar

import numpy as np
from django.db.models import Case, Q, QuerySet, Value, When
from numpy.typing import NDArray

from evalhub.statistics.rates.rate_interval import IssueSums
from evalhub.values.distinct_numbers import distinct
from evalhub.values.many_numbers import Among
from evalhub.values.packed_numbers import Numbers, packed_rows
from runs.figures.rate import Rate, rate_of_sums
from runs.figures.run_tallies import TALLIED, exact_tallies
from runs.figures.tallies import OUTCOMES, Group
from runs.models import Outcome, Result, Run, TallyRow

RUN, TAG_SET, ISSUE, OUTCOME, N = range(5)
"""The columns of `CountRows`; an outcome is its place in `OUTCOMES`."""

SCORED = PASSED, FAILED = [OUTCOMES.index(one) for one in (Outcome.PASSED, Outcome.FAILED)]
OTHERS = [place for place in range(len(OUTCOMES)) if place not in SCORED]

CountRows = Numbers
"""Shape (rows, 5), or more with further sums.

Several rows can be of one group: whoever reads them adds up.
"""

_PLACE = Case(*(When(outcome=name, then=Value(n)) for n, name in enumerate(OUTCOMES)))
COLUMNS = ("run_id", "tag_set_id", "issue_id", _PLACE)
"""What the groups of `CountRows` are read from, of tallies and of results."""

K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class IssueGroup(Group):
    """A group whose issues are added up."""

    sums: IssueSums = field(kw_only=True)

    def rate(self, *, answers: int) -> Rate:
        total = self.scored + sum(self.others.values())
        return rate_of_sums(self.sums, answers=answers, total=total)


def counts_of_runs(
    runs: Iterable[Run | int], which: Q | None = None, sums: Sequence[str] = ("n",)
) -> CountRows:
    """Count the results of runs, as `run_tallies.summed` does.

    Args:
        which: Condition on issue, tags, origin or outcome.
        sums: Columns of whole numbers in `TALLIED`, none of them null.
    """
    ids = {run if isinstance(run, int) else run.pk for run in runs}
    tallied = exact_tallies(ids)
    found = [np.empty((0, len(COLUMNS) + len(sums)), np.int64)]
    if others := ids - tallied:
        found.append(counts_of(Result.objects.filter(which or Q(), run__in=others), sums))
    if tallied:
        rows = TallyRow.objects.filter(Among("run_id", tallied), which or Q())
        found.append(packed_rows(rows, *COLUMNS, *sums))
    return np.concatenate(found)


def counts_of(results: QuerySet[Result], sums: Sequence[str] = ("n",)) -> CountRows:
    """Count these results; one query."""
    by_group = results.order_by().values("run_id", "tag_set_id", "issue_id", "outcome")
    return packed_rows(by_group.annotate(**{one: TALLIED[one] for one in sums}), *COLUMNS, *sums)


def without(counts: CountRows, part: CountRows) -> CountRows:
    """Leave out results that are counted in both."""
    taken = part.copy()
    taken[:, N:] *= -1
    return np.concatenate([counts, taken])


def by_issue(counts: CountRows) -> Numbers:
    """Add up counts with the sums `n` and `test_ids` by run and issue, sorted by these.

    Returns:
        Rows of run, issue, passed, failed, all results, ids of passed tests, ids of failed tests.
    """
    issues, numbers = np.unique(counts[:, ISSUE], return_inverse=True)
    cells = counts[:, RUN] * len(issues) + numbers
    groups, places = np.unique(cells, return_inverse=True)
    sums = np.zeros((len(groups), len(OUTCOMES), 2), np.int64)
    np.add.at(sums, (places, counts[:, OUTCOME]), counts[:, N:])
    run, issue = np.divmod(groups, max(1, len(issues)))
    columns = (
        *(sums[:, PASSED, 0], sums[:, FAILED, 0], sums[:, :, 0].sum(axis=1)),
        *(sums[:, PASSED, 1], sums[:, FAILED, 1]),
    )
    return np.column_stack([run, issues[issue], *columns])


def version_of(counts: CountRows) -> str:
    """Return a digest of `by_issue`."""
    return sha256(by_issue(counts).tobytes()).hexdigest()


def is_scored(counts: CountRows) -> NDArray[np.bool_]:
    return np.isin(counts[:, OUTCOME], SCORED)


def mapped(keys: Numbers, value: Callable[[int], int]) -> Numbers:
    """Return the value of each key, asked for once."""
    known, places = distinct(keys)
    return np.array([value(key) for key in known.tolist()], dtype=np.int64)[places]


def spread(keys: Numbers, parts: Mapping[int, Sequence[int]]) -> tuple[NDArray[np.intp], Numbers]:
    """Return a pair of row and part for each part that the row's key has."""
    rows, found = [np.empty(0, np.intp)], [np.empty(0, np.int64)]
    for key in np.unique(keys).tolist():
        mine = np.flatnonzero(keys == key)
        rows += [mine] * len(parts[key])
        found += [np.full(len(mine), part) for part in parts[key]]
    return np.concatenate(rows), np.concatenate(found)


def grouped_counts(counts: CountRows, places: Numbers, keys: Sequence[K]) -> dict[K, Group]:
    """Group the counts, each by the key at its place; keys without results are missing."""
    issues, numbers = distinct(counts[:, ISSUE])
    cells, inverse = distinct(places * len(issues) + numbers)
    kinds = len(OUTCOMES)
    found = np.bincount(
        inverse * kinds + counts[:, OUTCOME], weights=counts[:, N], minlength=kinds * len(cells)
    )
    by_outcome = np.ascontiguousarray(found.reshape(-1, kinds).T, np.int64)
    passed, scored = by_outcome[PASSED], by_outcome[PASSED] + by_outcome[FAILED]
    terms = scored > 0, passed, scored, passed * passed, passed * scored, scored * scored
    groups = cells // max(1, len(issues))
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    totals, sums = (
        np.add.reduceat(rows, starts, axis=1).T.tolist() if len(starts) else []
        for rows in (by_outcome, np.stack(terms))
    )
    return {
        keys[place]: IssueGroup(
            passed=total[PASSED],
            scored=total[PASSED] + total[FAILED],
            others={OUTCOMES[other]: total[other] for other in OTHERS if total[other]},
            sums=IssueSums(*of_issues),
        )
        for place, total, of_issues in zip(groups[starts].tolist(), totals, sums, strict=True)
        if any(total)
    }
