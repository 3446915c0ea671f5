"""What a call costs: by prices of tokens, cached ones too, or as its provider bills it. Pure."""

from dataclasses import dataclass
from decimal import Decimal

from evalhub.llm.capabilities import entry_of
from evalhub.llm.completion import Usage

MILLION = Decimal(1_000_000)
SMALLEST_USD = Decimal("1e-8")
"""Costs of calls are stored and added up in this unit."""

PRICES = (
    *("input_usd_per_mtok", "output_usd_per_mtok"),
    *("cached_usd_per_mtok", "cache_write_usd_per_mtok"),
)


@dataclass(frozen=True, kw_only=True)
class Prices:
    """US dollars per million tokens; None means unknown, so that cost is not measured.

    Of input from the provider's cache and written to it, None is the price of other input.
    """

    input_usd_per_mtok: Decimal | None = None
    output_usd_per_mtok: Decimal | None = None
    cached_usd_per_mtok: Decimal | None = None
    cache_write_usd_per_mtok: Decimal | None = None

    def cost_usd(
        self,
        input_tokens: int | None,
        output_tokens: int | None,
        *,
        cached: int = 0,
        written: int = 0,
    ) -> Decimal | None:
        """Return the cost; None if unknown. Without output tokens no output price is needed.

        `cached` and `written` of the input were read from the provider's cache and written to it.
        """
        price = self.input_usd_per_mtok
        if price == self.output_usd_per_mtok == 0:
            return Decimal(0)
        if price is None or input_tokens is None or output_tokens is None:
            return None
        output_price = self.output_usd_per_mtok if output_tokens else Decimal(0)
        if output_price is None:
            return None
        cost = input_tokens * price + output_tokens * output_price
        if cached + written <= input_tokens:
            own = self.cached_usd_per_mtok, self.cache_write_usd_per_mtok
            read_price, write_price = (price if each is None else each for each in own)
            cost += cached * (read_price - price) + written * (write_price - price)
        return cost / MILLION

    def bill(self, usage: Usage) -> Decimal | None:
        """Return what a reply costs: as its provider says, else by the prices; None if unknown.

        Gateways say 0 of what others bill: then the prices count, if there are any.
        """
        by_prices = self.cost_usd(
            usage.input_tokens,
            usage.output_tokens,
            cached=usage.cached_tokens or 0,
            written=usage.cache_write_tokens or 0,
        )
        cost = usage.charged_usd or by_prices
        cost = usage.charged_usd if cost is None else cost
        return None if cost is None else cost.quantize(SMALLEST_USD)


def cache_price(litellm_model: str, act: str, input_price: Decimal | None) -> Decimal | None:
    """Return the price of input "read" from a provider's cache, or written to it ("creation").

    It is the same share of the price of other input as in LiteLLM's map; None: not known.
    """
    entry = {} if input_price is None else entry_of(litellm_model)
    price, other = entry.get(f"cache_{act}_input_token_cost"), entry.get("input_cost_per_token")
    if input_price is None or not price or not other:
        return None
    share = Decimal(str(price)) / Decimal(str(other))
    return (Decimal(input_price) * share).quantize(Decimal("1e-6"))
