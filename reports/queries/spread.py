"""How something measured is spread over a run's results, grouped in the database."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from django.db.models import BigIntegerField, Case, Count, ExpressionWrapper, F, Value, When
from django.db.models.expressions import Combinable

from runs.models import Result, Run

SHARES = (0.5, 0.9, 0.99)
HIGHEST = 10**12
STEPS = (1, 2, 5)

Groups = Sequence[tuple[int, int]]
"""Whole numbers cut to two significant digits, rising, and how often each was measured."""


def groups_of(run: Run, measured: Combinable) -> Groups:
    """What was measured of a run's results, a whole number from 0; empty where nothing was."""
    rows = Result.objects.filter(run=run).order_by().annotate(measured=measured)
    rows = rows.filter(measured__isnull=False).annotate(cut=_two_digits())
    return sorted(rows.values("cut").annotate(n=Count("pk")).values_list("cut", "n"))


def _two_digits() -> Case:
    """Cut to two significant digits, so that at most some hundred groups come back."""
    sizes = [10**power for power in range(11)]
    return Case(
        *(When(measured__lt=100 * size, then=_cut(size)) for size in sizes),
        default=Value(HIGHEST),
        output_field=BigIntegerField(),
    )


def _cut(size: int) -> ExpressionWrapper:
    rest = F("measured") % Value(size)
    return ExpressionWrapper(F("measured") - rest, output_field=BigIntegerField())


def percentile(groups: Groups, share: float) -> int:
    """The smallest value that at least this share of all does not exceed: nearest-rank.

    Raises:
        IndexError: There are no groups.
    """
    needed, seen = share * sum(n for _, n in groups), 0
    for value, n in groups:
        seen += n
        if round(seen - needed, 9) >= 0:
            return value
    return groups[-1][0]


def bars_of(groups: Groups) -> Iterator[tuple[int, int, int]]:
    """(from, below, n) with the bounds 0, 1, 2, 5, 10, 20, 50 … that hold all, without gaps."""
    bounds = [0] + [step * 10**power for power in range(12) for step in STEPS] + [HIGHEST, 2**63]
    low, high = groups[0][0], groups[-1][0]
    for start, end in pairwise(bounds):
        if end > low and start <= high:
            yield start, end, sum(n for value, n in groups if start <= value < end)
