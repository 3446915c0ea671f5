"""Estimated load of an endpoint: calls, tokens and cost, each from low to high."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from evalhub.llm.costs.token_estimates import token_limit
from evalhub.llm.endpoint import Endpoint

JUDGMENT_TOKENS = (60, 400)
"""Tokens of a judge's reply, low and high."""


class Span(NamedTuple):
    """From low to high, in calls or tokens."""

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
    """Load of one endpoint in a whole launch."""

    endpoint: Endpoint
    calls: Span
    input_tokens: Span
    output_tokens: Span

    def cost(self) -> Cost | None:
        low = self.endpoint.cost_usd(self.input_tokens.low, self.output_tokens.low)
        high = self.endpoint.cost_usd(self.input_tokens.high, self.output_tokens.high)
        return None if low is None or high is None else Cost(low, high)

    def in_flight_usd(self) -> Decimal | None:
        """Return the highest cost of the calls that may be in flight at once; None if unknown."""
        cost = self.cost()
        if cost is None or not self.calls.high:
            return None if cost is None else Decimal(0)
        width = min(self.endpoint.max_concurrency, self.calls.high)
        return cost.high / self.calls.high * width


ONE_CALL = Span(1, 1)


def load_of_judge(
    endpoint: Endpoint,
    params: Mapping[str, object],
    *,
    judgments: int,
    repairs: int,
    prompt_tokens: Span,
    calls: Span = ONE_CALL,
) -> EndpointLoad:
    """Return the load of a judge.

    Args:
        params: The judge's own parameters, which may limit its replies.
        repairs: Judgments whose reply the judge itself may have to repair, with a second call.
        prompt_tokens: Of the prompts of all judgments together.
        calls: Calls of a judgment without repairs; each shows the prompt and all earlier replies.
    """
    limit = token_limit(params)
    low, high = (min(size, limit or size) for size in JUDGMENT_TOKENS)
    most = calls.high
    sent = most * prompt_tokens.high + judgments * high * most * (most + 1) // 2
    made = Span(judgments * calls.low, (judgments + repairs) * most)
    return EndpointLoad(
        endpoint,
        made,
        Span(calls.low * prompt_tokens.low, sent + sent * repairs // max(1, judgments)),
        Span(made.low * low, made.high * high),
    )


def total_cost(loads: Sequence[EndpointLoad]) -> Cost | None:
    """Return the cost of all; None if the prices of one are unknown."""
    costs = [load.cost() for load in loads]
    known = [cost for cost in costs if cost is not None]
    return sum(known, Cost(Decimal(0), Decimal(0))) if len(known) == len(costs) else None


def total(spans: Iterable[Span]) -> Span:
    return sum(spans, Span(0, 0))
