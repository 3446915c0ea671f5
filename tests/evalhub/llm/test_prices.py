"""What calls cost."""

from dataclasses import replace
from decimal import Decimal

import pytest

from evalhub.llm.completion import Usage
from evalhub.models import LanguageModel
from tests.evalhub.llm.endpoints import make_endpoint

PRICED = make_endpoint(
    "", input_usd_per_mtok=Decimal("0.15"), output_usd_per_mtok=Decimal("0.600001")
)


def test_cost_known_value():
    # (1000 · 0.15 + 500 · 0.600001) / 10⁶ = (150 + 300.0005) / 10⁶
    assert PRICED.cost_usd(1000, 500) == Decimal("0.0004500005")


@pytest.mark.parametrize("counts", [(None, 5), (5, None)])
def test_cost_of_uncounted_tokens_is_not_measured(counts):
    assert PRICED.cost_usd(*counts) is None


CACHING = make_endpoint(
    "",
    **{"input_usd_per_mtok": Decimal(2), "output_usd_per_mtok": Decimal(10)},
    cached_usd_per_mtok=Decimal("0.5"),
    cache_write_usd_per_mtok=Decimal("2.5"),
)
FREE = make_endpoint("", input_usd_per_mtok=Decimal(0), output_usd_per_mtok=Decimal(0))


@pytest.mark.parametrize(
    ("endpoint", "usage", "cost"),
    [
        # 100 · 2 + 800 · 0.5 + 100 · 2.5 + 50 · 10 = 1350 per million
        (CACHING, {"cached_tokens": 800, "cache_write_tokens": 100}, "0.00135"),
        (CACHING, {"cached_tokens": 2000}, "0.0025"),  # more than there is: billed in full
        (replace(CACHING, cached_usd_per_mtok=None), {"cached_tokens": 800}, "0.0025"),
        (CACHING, {"charged_usd": Decimal("0.0047")}, "0.0047"),
        (CACHING, {"charged_usd": Decimal(0)}, "0.0025"),
        (make_endpoint(""), {"charged_usd": Decimal(0)}, "0"),
        (make_endpoint(""), {}, None),
        (FREE, {"input_tokens": None}, "0"),
    ],
)
def test_bill_is_what_is_charged_or_by_the_prices(endpoint, usage, cost):
    counted = Usage(**{"input_tokens": 1000, "output_tokens": 50} | usage)
    assert endpoint.bill(counted) == (None if cost is None else Decimal(cost))


def test_cached_input_costs_the_share_that_litellm_lists():
    claude = LanguageModel(litellm_model="anthropic/claude-sonnet-4-5", input_usd_per_mtok="6")
    found = claude.endpoint()
    assert (found.cached_usd_per_mtok, found.cache_write_usd_per_mtok) == (
        *(Decimal("0.6"), Decimal("7.5")),
    )
    claude.cached_usd_per_mtok = Decimal(1)
    assert claude.endpoint().cached_usd_per_mtok == 1
    assert LanguageModel(litellm_model="openai/mine").endpoint().cached_usd_per_mtok is None


def test_cost_without_prices_is_not_measured():
    assert make_endpoint("").cost_usd(5, 5) is None
