"""Results counted by run, tags, issue and outcome as an array of whole numbers.

Reports that draw many runs need tens of thousands of counts.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from django.db.models import Case, Count, Q, QuerySet, Value, When
from numpy.typing import NDArray

from evalhub.values.packed_numbers import Numbers, packed_rows
from runs.figures.run_tallies import exact_tallies
from runs.figures.tallies import OUTCOMES, Group
from runs.models import Outcome, Result, Run, TallyRow

RUN, TAG_SET, ISSUE, OUTCOME, N = range(5)
"""The columns of `CountRows`; an outcome is its place in `OUTCOMES`."""

SCORED = [OUTCOMES.index(outcome) for outcome in (Outcome.PASSED, Outcome.FAILED)]

CountRows = Numbers
"""Shape (rows, 5). Several rows can be of one group: whoever reads them adds up."""

_PLACE = Case(*(When(outcome=name, then=Value(n)) for n, name in enumerate(OUTCOMES)))
COLUMNS = ("run_id", "tag_set_id", "issue_id", _PLACE, "n")
"""What `CountRows` are read from, of tallies and of grouped results."""

K = TypeVar("K", bound=Hashable)


def counts_of_runs(runs: Iterable[Run | int], which: Q | None = None) -> CountRows:
    """Count the results of runs, as `run_tallies.summed` does."""
    ids = {run if isinstance(run, int) else run.pk for run in runs}
    tallied = exact_tallies(ids)
    found = [counts_of(Result.objects.filter(which or Q(), run__in=ids - tallied))]
    if tallied:
        rows = TallyRow.objects.filter(which or Q(), run__in=tallied)
        found.append(packed_rows(rows, *COLUMNS))
    return np.concatenate(found)


def counts_of(results: QuerySet[Result]) -> CountRows:
    """Count these results; one query."""
    counted = results.order_by().values("run_id", "tag_set_id", "issue_id", "outcome")
    return packed_rows(counted.annotate(n=Count("pk")), *COLUMNS)


def without(counts: CountRows, part: CountRows) -> CountRows:
    """Leave out results that are counted in both."""
    taken = part.copy()
    taken[:, N] *= -1
    return np.concatenate([counts, taken])


def is_scored(counts: CountRows) -> NDArray[np.bool_]:
    return np.isin(counts[:, OUTCOME], SCORED)


def mapped(keys: Numbers, value: Callable[[int], int]) -> Numbers:
    """Return the value of each key, asked for once."""
    known, places = np.unique(keys, return_inverse=True)
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
    issues, numbers = np.unique(counts[:, ISSUE], return_inverse=True)
    cells, inverse = np.unique(places * len(issues) + numbers, return_inverse=True)
    kinds = len(OUTCOMES)
    sums = np.bincount(
        inverse * kinds + counts[:, OUTCOME], weights=counts[:, N], minlength=kinds * len(cells)
    )
    by_outcome = sums.reshape(-1, kinds).astype(np.int64)
    has_results = by_outcome.any(axis=1)
    cells, by_outcome = cells[has_results], by_outcome[has_results]
    issues_of, places_of = issues[cells % max(1, len(issues))], cells // max(1, len(issues))
    present, starts = np.unique(places_of, return_index=True)
    ends = np.append(starts[1:], len(cells))
    return {
        keys[place]: _group(issues_of[start:end], by_outcome[start:end])
        for place, start, end in zip(present.tolist(), starts, ends, strict=False)
    }


def _group(issues: Numbers, by_outcome: Numbers) -> Group:
    """Return the group of these issues, each with its results by outcome."""
    passed = by_outcome[:, SCORED[0]]
    scored = by_outcome[:, SCORED].sum(axis=1)
    is_scored = scored > 0
    pairs = zip(passed[is_scored].tolist(), scored[is_scored].tolist(), strict=True)
    others = zip(OUTCOMES, by_outcome.sum(axis=0).tolist(), strict=True)
    return Group(
        passed=int(passed.sum()),
        scored=int(scored.sum()),
        others={name: n for place, (name, n) in enumerate(others) if n and place not in SCORED},
        issues=dict(zip(issues[is_scored].tolist(), pairs, strict=True)),
    )
