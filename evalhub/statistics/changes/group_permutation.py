"""Permutation of units between groups, one-sided, for groups that are lower than others."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

DRAWS = 10_000
_TOLERANCE = 1e-9


class GroupPermutation:
    """Gives the one-sided p of groups of units, such as the tests of an issue, under permutation.

    If no group is lower, each group of n units is a random choice of n of all. p is the share of
    random choices whose sum is at most the sum seen. Groups of one size share their draws.

    Args:
        shares: Value of every unit, shape (N,), in any unit.
        draws: M, random choices of each size. No p is below 1 / (M + 1): for m groups that are
            corrected together take M >= 20 m, or none is significant at 5 %.
        seed: 0 or more. Equal input and seed give equal results.

    Source: E. J. G. Pitman (1937), doi:10.2307/2984124; B. Phipson, G. K. Smyth (2010),
    doi:10.2202/1544-6115.1585, for the 1 that is added.
    """

    def __init__(self, shares: Sequence[float], *, draws: int = DRAWS, seed: int) -> None:
        if draws < 1:
            raise ValueError(f"expected draws >= 1, got {draws}")
        self._shares = np.asarray(shares, dtype=np.float64)
        self._draws, self._seed = draws, seed
        self._sums: dict[int, NDArray[np.float64]] = {}

    @cached_property
    def _values(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The distinct values and their counts: units of one value are interchangeable."""
        values, counts = np.unique(np.round(self._shares, 9), return_counts=True)
        return values, counts.astype(np.int64)

    def p_of(self, group: Sequence[float]) -> float | None:
        """Return the p of these units' sum, in (0, 1]; None for an empty group.

        Raises:
            ValueError: The group is larger than all units together.
        """
        if not group:
            return None
        if len(group) > len(self._shares):
            raise ValueError(f"expected at most {len(self._shares)} units, got {len(group)}")
        sums = self._sums_of(len(group))
        few = np.searchsorted(sums, sum(group) + _TOLERANCE * max(1, len(group)), side="right")
        return (int(few) + 1) / (self._draws + 1)

    def _sums_of(self, n: int) -> NDArray[np.float64]:
        """Return the sorted sums of random choices of n units, shape (M,)."""
        if n not in self._sums:
            values, counts = self._values
            rng = np.random.default_rng([self._seed, n])
            drawn = rng.multivariate_hypergeometric(counts, n, size=self._draws)
            self._sums[n] = np.sort(np.einsum("ij,j->i", drawn.astype(np.float64), values))
        return self._sums[n]
