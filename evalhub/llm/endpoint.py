"""Endpoints of models, frozen by copy. Pure."""

from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal
from typing import Any

from evalhub.llm.applications.application import Application
from evalhub.llm.completion import Usage

MILLION = Decimal(1_000_000)
SMALLEST_USD = Decimal("1e-8")
"""Costs of calls are stored and added up in this unit."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An endpoint as it was when a run, judge or judge run took its copy.

    Holds the name of the environment variable with the key, never the key. Prices are US dollars
    per million tokens; None means unknown, so that cost is not measured; of input from the
    provider's cache and written to it, None is the price of other input. `api_base` "" is the
    provider's own address; `requests_per_minute` None means no limit. `application` holds the
    settings of an HTTP application, whose URL is `api_base`; {} is a language model.
    """

    language_model_id: int
    name: str
    litellm_model: str
    api_base: str = ""
    api_key_env: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    timeout_s: float = 120
    max_concurrency: int = 8
    requests_per_minute: int | None = None
    input_usd_per_mtok: Decimal | None = None
    output_usd_per_mtok: Decimal | None = None
    cached_usd_per_mtok: Decimal | None = None
    cache_write_usd_per_mtok: Decimal | None = None
    structured_output: bool = True
    takes_images: bool = False
    is_scripted: bool = False
    developer: str = ""
    family: str = ""
    application: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types; prices are strings, to keep every digit."""
        prices = {name: getattr(self, name) for name in _PRICES}
        return asdict(self) | {name: p if p is None else str(p) for name, p in prices.items()}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Endpoint":
        """Return what `to_json` stored; raise ValueError that names unknown and missing fields."""
        known = {item.name for item in fields(cls)}
        unknown, missing = stored.keys() - known, _REQUIRED - stored.keys()
        if unknown or missing:
            raise ValueError(
                f"not an endpoint: unknown {sorted(unknown)}, missing {sorted(missing)}"
            )
        prices = {name: stored.get(name) for name in _PRICES}
        return cls(**stored | {name: p if p is None else Decimal(p) for name, p in prices.items()})

    @property
    def places_documents(self) -> bool:
        """Return whether an application's body places the documents apart from the messages."""
        return bool(self.application) and "documents" in self.settings.placeholders

    @property
    def settings(self) -> Application:
        """Return the settings of an application."""
        return Application(**self.application)

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


_PRICES = (
    *("input_usd_per_mtok", "output_usd_per_mtok"),
    *("cached_usd_per_mtok", "cache_write_usd_per_mtok"),
)
_REQUIRED = {"language_model_id", "name", "litellm_model"}
