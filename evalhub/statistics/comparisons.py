"""How many pairs of judges there are to compare, and how many there were to be."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb


@dataclass(frozen=True)
class Comparisons:
    """Pairs of judges that both gave a value, and those that were expected."""

    made: int
    expected: int


def comparisons(units: Iterable[tuple[int, int]]) -> Comparisons:
    """Σ a(a - 1)/2 of Σ n(n - 1)/2: what agreement rests on, and what it should rest on.

    Args:
        units: For each criterion how many judges gave a value (a) and how many were asked for one
            (n). One that steps in for another is among those that answered, and not among those
            asked; a unit has never more comparisons than were expected.
    """
    pairs = [(comb(min(answered, asked), 2), comb(asked, 2)) for answered, asked in units]
    return Comparisons(sum(made for made, _ in pairs), sum(expected for _, expected in pairs))
