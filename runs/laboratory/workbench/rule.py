"""Votes of a judge's samples, agreement with expected options, and position bias. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.rate_interval import rate_interval
from evalhub.statistics.rates.wilson import wilson_interval


class Vote(NamedTuple):
    """The options that a judge's samples chose, most frequent first, with their numbers.

    `option` is the one with most votes; "" if several have most, or none voted: a tie stays one.
    """

    option: str
    votes: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        return sum(n for _, n in self.votes)

    @property
    def is_tie(self) -> bool:
        return bool(self.votes) and not self.option

    @property
    def share(self) -> float | None:
        """The share of the most frequent option, in [0, 1]; None for fewer than two samples."""
        return self.votes[0][1] / self.total if self.total > 1 else None


def vote_of(options: Iterable[str]) -> Vote:
    """Count the options of samples; failed ones, "", have no vote."""
    votes = tuple(Counter(option for option in options if option).most_common())
    is_tie = len(votes) > 1 and votes[0][1] == votes[1][1]
    return Vote("" if is_tie or not votes else votes[0][0], votes)


class Agreement(NamedTuple):
    """`agreed` of `compared` options are the expected ones; interval None: nothing compared."""

    agreed: int
    compared: int
    interval: Interval | None
    method: str


def agreement_of(rows: Sequence[tuple[int, int]]) -> Agreement:
    """Return the agreement with a 95 % interval.

    Args:
        rows: (agreed, compared) of each row, with at least one compared option. Several options of
            one row, those of its criteria, tend to agree together.
    """
    agreed, compared = sum(k for k, _ in rows), sum(n for _, n in rows)
    if not compared:
        return Agreement(0, 0, None, "")
    if compared == len(rows):
        return Agreement(agreed, compared, wilson_interval(agreed, compared), "Wilson")
    found = rate_interval(rows)
    method = str(found.method).replace("issues", "rows").replace("issue", "row")
    return Agreement(agreed, compared, found.interval, method.replace("by test", "by criterion"))


class PositionBias(NamedTuple):
    """`changed` of `measured` options changed with the order. Nothing measured is no bias of 0."""

    changed: int
    measured: int
    interval: Interval | None


def position_bias_of(pairs: Iterable[tuple[str, str]]) -> PositionBias:
    """Compare options as given and reversed; pairs with a tie or a failure, "", do not count."""
    known = [(given, turned) for given, turned in pairs if given and turned]
    changed = sum(given != turned for given, turned in known)
    interval = wilson_interval(changed, len(known)) if known else None
    return PositionBias(changed, len(known), interval)
