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
    cached_usd_per_mtok=Decimal("0.0150"),
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
