from collections.abc import Iterable
from math import comb
from typing import NamedTuple


class Comparisons(NamedTuple):
    """Pairs of judges with two values, and pairs expected."""

    made: int
    expected: int


def comparisons(units: Iterable[tuple[int, int]]) -> Comparisons:
    """Count actual comparisons, Σ a(a - 1)/2, and expected ones, Σ n(n - 1)/2.

    Args:
        units: For each criterion the number of judges that answered (a) and that were asked (n).
            A substitute judge counts among those that answered only; a unit never has more
            comparisons than expected.
    """
    pairs = [(comb(min(answered, asked), 2), comb(asked, 2)) for answered, asked in units]
    return Comparisons(sum(made for made, _ in pairs), sum(expected for _, expected in pairs))
