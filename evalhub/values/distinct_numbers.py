"""The distinct ones of many whole numbers, without sorting these where they lie close together."""

import numpy as np
from numpy.typing import NDArray

from evalhub.values.packed_numbers import Numbers

SPREAD = 10
"""So many times as many whole numbers as there are given may lie between the ends."""


def distinct(numbers: Numbers) -> tuple[Numbers, NDArray[np.intp]]:
    """Return the distinct numbers, ascending, and the place of each number among them."""
    if not len(numbers):
        return np.empty(0, np.int64), np.empty(0, np.intp)
    low = numbers.min()
    offsets = numbers - low
    span = int(offsets.max()) + 1
    if span > SPREAD * len(numbers):
        found, places = np.unique(numbers, return_inverse=True)
        return found, places
    is_present = np.zeros(span, dtype=np.bool_)
    is_present[offsets] = True
    return np.flatnonzero(is_present) + low, (np.cumsum(is_present) - 1)[offsets]
