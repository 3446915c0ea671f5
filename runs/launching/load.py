"""What an endpoint is asked for: calls, tokens and money, from low to high. Estimates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from evalhub.llm.endpoint import Endpoint

CHARS_PER_TOKEN = 4


class Span(NamedTuple):
    """From low to high, in whole calls or tokens."""

    low: int
    high: int

    def __add__(self, other: object) -> "Span":
        assert isinstance(other, Span)
        return Span(self.low + other.low, self.high + other.high)


class Cost(NamedTuple):
    """From low to high, in US dollars."""

    low: Decimal
    high: Decimal

    def __add__(self, other: object) -> "Cost":
        assert isinstance(other, Cost)
        return Cost(self.low + other.low, self.high + other.high)


@dataclass(frozen=True)
class EndpointLoad:
    """What one endpoint is asked for by the whole launch. `has_no_output`: it embeds texts."""

    endpoint: Endpoint
    calls: Span
    input_tokens: Span
    output_tokens: Span
    has_no_output: bool = False

    def cost(self) -> Cost | None:
        low = self._usd(self.input_tokens.low, self.output_tokens.low)
        high = self._usd(self.input_tokens.high, self.output_tokens.high)
        return None if low is None or high is None else Cost(low, high)

    def _usd(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        if self.has_no_output:
            return self.endpoint.reading_cost_usd(input_tokens)
        return self.endpoint.cost_usd(input_tokens, output_tokens)

    def in_flight_usd(self) -> Decimal | None:
        """What as many of these calls as may be under way at once cost at most."""
        cost = self.cost()
        if cost is None or not self.calls.high:
            return None if cost is None else Decimal(0)
        width = min(self.endpoint.max_concurrency, self.calls.high)
        return cost.high / self.calls.high * width


def tokens(texts: Iterable[str]) -> int:
    return sum(len(text) for text in texts) // CHARS_PER_TOKEN


def total_cost(loads: Sequence[EndpointLoad]) -> Cost | None:
    """What all of them cost; None where the prices of one are not known."""
    costs = [load.cost() for load in loads]
    known = [cost for cost in costs if cost is not None]
    return sum(known, Cost(Decimal(0), Decimal(0))) if len(known) == len(costs) else None


def total(spans: Iterable[Span]) -> Span:
    return sum(spans, Span(0, 0))
