"""Endpoints for tests."""

from typing import Any

from evalhub.llm.endpoint import Endpoint
from tests.provider import Provider

QUESTION = [{"role": "user", "content": "What is two and two?"}]


def make_endpoint(provider: Provider | str, **fields: Any) -> Endpoint:
    base = provider if isinstance(provider, str) else provider.base_url
    defaults: dict[str, Any] = {
        "language_model_id": 1,
        "name": "Scripted",
        "litellm_model": "openai/scripted",
        "api_base": base,
        "timeout_s": 10,
    }
    return Endpoint(**(defaults | fields))
