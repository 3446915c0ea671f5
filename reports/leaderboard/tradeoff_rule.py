"""The frontier of score against cost or latency. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class Usage(NamedTuple):
    """Sums over the answers of some runs. Cost and latency are known for so many of them."""

    answers: int
    cost_usd: float
    with_cost: int
    latency_ms: int
    with_latency: int

    @property
    def usd_per_thousand(self) -> float | None:
        """Cost of 1,000 answers; None unless the cost of all of them is known."""
        is_known = self.answers and self.with_cost == self.answers
        return 1000 * self.cost_usd / self.answers if is_known else None

    @property
    def mean_latency_ms(self) -> int | None:
        """Mean of the answers with a latency; None without any."""
        return round(self.latency_ms / self.with_latency) if self.with_latency else None


def added(usages: Iterable[Usage]) -> Usage:
    """Add up the usage of several runs."""
    found = list(usages)
    return Usage(
        answers=sum(one.answers for one in found),
        cost_usd=sum(one.cost_usd for one in found),
        with_cost=sum(one.with_cost for one in found),
        latency_ms=sum(one.latency_ms for one in found),
        with_latency=sum(one.with_latency for one in found),
    )


class Spot(NamedTuple):
    """A model with its mean score and what it takes: cost or latency, None if not known."""

    model: str
    score: float
    price: float | None


def frontier(spots: Sequence[Spot]) -> set[str]:
    """Return the models that no other one equals in both score and price and beats in one."""
    priced = {spot.model: (spot.score, spot.price) for spot in spots if spot.price is not None}
    return {model for model in priced if not _is_dominated(model, priced)}


def _is_dominated(model: str, priced: Mapping[str, tuple[float, float]]) -> bool:
    score, price = priced[model]
    return any(
        other_score >= score and other <= price and (other_score, other) != (score, price)
        for key, (other_score, other) in priced.items()
        if key != model
    )
