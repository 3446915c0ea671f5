"""Permutation within rows, for columns, such as models on the same tests, that differ."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DRAWS = 10_000
ENOUGH = 20
"""Draws as far apart as the columns seen after which no more are needed."""

_BATCH = 200
_TOLERANCE = 1e-9


def columns_differ_p(
    rows: Sequence[Sequence[float]], *, seed: int, draws: int = DRAWS
) -> float | None:
    """Return the p of the largest difference between column sums under permutation within rows.

    If the columns did not differ, the values of a row could as well have been in any order. p is
    the share of random orders in which the highest and the lowest column are at least as far
    apart. Draws end early where many are, which leaves p valid.

    Args:
        rows: Values of each unit, such as a test, in every column, shape (n, k), in any unit.
        seed: 0 or more. Equal input and seed give equal results.
        draws: M at most; no p is below 1 / (M + 1).

    Returns:
        p in (0, 1]; None without rows or with fewer than two columns.

    Source: E. J. G. Pitman (1937), doi:10.2307/2984124; for the early end J. Besag, P. Clifford
    (1991), Sequential Monte Carlo p-values, doi:10.1093/biomet/78.2.301.
    """
    table = np.asarray(rows, dtype=np.float64)
    if draws < 1:
        raise ValueError(f"expected draws >= 1, got {draws}")
    if table.ndim != 2 or table.shape[1] < 2:
        return None
    table = table[np.ptp(table, axis=1) > _TOLERANCE]
    if not len(table):
        return 1.0
    seen = _range(table.sum(axis=0)) - _TOLERANCE
    rng = np.random.default_rng(seed)
    found = drawn = 0
    while drawn < draws:
        batch = min(_BATCH, draws - drawn)
        orders = rng.permuted(np.broadcast_to(table, (batch, *table.shape)), axis=2)
        places = np.flatnonzero(_range(orders.sum(axis=1)) >= seen)
        if found + len(places) >= ENOUGH:
            return ENOUGH / (drawn + int(places[ENOUGH - found - 1]) + 1)
        found, drawn = found + len(places), drawn + batch
    return (found + 1) / (draws + 1)


def _range(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.ptp(sums, axis=-1), dtype=np.float64)
