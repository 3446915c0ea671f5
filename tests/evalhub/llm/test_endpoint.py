import json
from decimal import Decimal

import pytest

from evalhub.llm.endpoint import Endpoint
from tests.evalhub.llm.endpoints import make_endpoint

PRICED = make_endpoint(
    "https://llm.example.org",
    params={"temperature": 0},
    input_usd_per_mtok=Decimal("0.15"),
    output_usd_per_mtok=Decimal("0.600001"),
)


@pytest.mark.parametrize("endpoint", [PRICED, make_endpoint("")])
def test_endpoint_survives_json(endpoint):
    assert Endpoint.from_json(json.loads(json.dumps(endpoint.to_json()))) == endpoint


def test_stored_endpoint_with_an_unknown_field_is_refused():
    with pytest.raises(ValueError, match=r"unknown \['api_key'\]"):
        Endpoint.from_json(PRICED.to_json() | {"api_key": "secret"})


def test_stored_endpoint_without_a_name_is_refused():
    with pytest.raises(ValueError, match=r"missing \['litellm_model', 'name'\]"):
        Endpoint.from_json({"language_model_id": 1})


def test_cost_known_value():
    # (1000 · 0.15 + 500 · 0.600001) / 10⁶ = (150 + 300.0005) / 10⁶
    assert PRICED.cost_usd(1000, 500) == Decimal("0.0004500005")


@pytest.mark.parametrize("counts", [(None, 5), (5, None)])
def test_cost_of_uncounted_tokens_is_not_measured(counts):
    assert PRICED.cost_usd(*counts) is None


def test_cost_without_prices_is_not_measured():
    assert make_endpoint("").cost_usd(5, 5) is None
