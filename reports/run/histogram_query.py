"""The distribution of a measured field over a run's results, grouped in the database."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from django.db.models import BigIntegerField, Count, Func

from runs.models import Result, Run

SHARES = (0.5, 0.9, 0.99)
STEPS = (1, 2, 5)
SIZES = tuple(10**power for power in range(12))
HIGHEST = 100 * SIZES[-1]

Groups = Sequence[tuple[int, int]]
"""Whole numbers cut to two significant digits, rising, and how often each was measured."""


class TwoDigits(Func):
    """Multiply by `units`, round and cut to two significant digits, for few groups.

    It is one piece of SQL, as putting the like together of Django's expressions takes longer than
    the query.
    """

    output_field = BigIntegerField()

    def __init__(self, measured: str, units: int) -> None:
        whole = f"CAST(ROUND(%(expressions)s * {units}) AS bigint)"
        cuts = (f"WHEN {whole} < {100 * n} THEN {whole} / {n} * {n}" for n in SIZES)
        super().__init__(measured, template=f"CASE {' '.join(cuts)} ELSE {HIGHEST} END")


def groups_of(run: Run, measured: str, units: int = 1) -> Groups:
    """Return the distribution of a non-negative field; empty where it was never measured."""
    rows = Result.objects.filter(run=run, **{f"{measured}__isnull": False}).order_by()
    cut = rows.annotate(cut=TwoDigits(measured, units)).values("cut")
    return sorted(cut.annotate(n=Count("pk")).values_list("cut", "n"))


def percentile(groups: Groups, share: float) -> int:
    """Return the nearest-rank percentile.

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
    """Return (from, to, n) of bins with the bounds 0, 1, 2, 5, 10, 20, 50 …, without gaps."""
    bounds = [0] + [step * 10**power for power in range(12) for step in STEPS] + [HIGHEST, 2**63]
    low, high = groups[0][0], groups[-1][0]
    for start, end in pairwise(bounds):
        if end > low and start <= high:
            yield start, end, sum(n for value, n in groups if start <= value < end)
