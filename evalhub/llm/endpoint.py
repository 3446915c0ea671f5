"""Endpoints of models, frozen by copy. Pure."""

from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal
from typing import Any

from evalhub.llm.applications.application import Application
from evalhub.llm.costs.prices import PRICES, Prices


@dataclass(frozen=True, kw_only=True)
class Endpoint(Prices):
    """An endpoint as it was when a run, judge or judge run took its copy.

    Holds the name of the environment variable with the key, never the key. `api_base` "" is the
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
    structured_output: bool = True
    takes_images: bool = False
    is_scripted: bool = False
    developer: str = ""
    family: str = ""
    application: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types; prices are strings, to keep every digit."""
        prices = {name: getattr(self, name) for name in PRICES}
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
        prices = {name: stored.get(name) for name in PRICES}
        return cls(**stored | {name: p if p is None else Decimal(p) for name, p in prices.items()})

    @property
    def places_documents(self) -> bool:
        """Return whether an application's body places the documents apart from the messages."""
        return bool(self.application) and "documents" in self.settings.placeholders

    @property
    def settings(self) -> Application:
        """Return the settings of an application."""
        return Application(**self.application)


_REQUIRED = {"language_model_id", "name", "litellm_model"}
