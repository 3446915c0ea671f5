"""Whether a judge changed, by fixed answers that it judges anew with each run. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from evalhub.statistics.arguments import check_lengths
from evalhub.statistics.rates.binomial import at_most

LEVEL = 0.02
"""One-sided level of an alarm, in each run."""


class Canaries(NamedTuple):
    """How a judge's verdicts differ from those at the reference reading.

    Attributes:
        passes_now: Answers that it failed and passes now.
        fails_now: And the reverse.
        p: One-sided, that it became kinder by chance, in (0, 1].
    """

    passes_now: int
    fails_now: int
    p: float

    @property
    def is_kinder(self) -> bool:
        return self.p <= LEVEL


def canaries(before: Sequence[bool], now: Sequence[bool]) -> Canaries:
    """Compare a judge's verdicts on fixed answers with its own at the reference reading.

    It tells that the judge changed, not that it favours a release. Of answers that people failed,
    50 promise to find a drop of specificity by 20 points, 100 one by 10 to 15.

    Args:
        before: Which answers passed at the reference, shape (answers,).
        now: Which pass in this run.

    Raises:
        ValueError: The sequences differ in length.

    Source: W. J. Dixon, A. M. Mood (1946), doi:10.1080/01621459.1946.10501898 (sign test).
    """
    check_lengths(before=before, now=now)
    passes_now = sum(new and not old for old, new in zip(before, now, strict=True))
    fails_now = sum(old and not new for old, new in zip(before, now, strict=True))
    p = at_most(fails_now, passes_now + fails_now, 0.5)
    return Canaries(passes_now, fails_now, p)
