"""Parameters of requests to judges, the same for runs, pages and tests of a connection."""

from typing import Any

from evalhub.llm.capabilities import default_temperature
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.parameters import own_params
from evalhub.llm.verdicts.judge_replies import verdict_token_limit

MIN_TOKENS = 1024
"""Minimum token limit of a verdict, with room for a judge that reasons aloud."""


def params_for(
    endpoint: Endpoint, judge_params: dict[str, Any], schema: dict[str, Any] | None
) -> dict[str, Any]:
    """Return a judge's parameters: temperature 0 and room for the longest verdict by default.

    A limit on a model's answers as a candidate does not limit its verdicts.
    """
    return own_params(
        endpoint.params,
        judge_params,
        temperature=default_temperature(endpoint.litellm_model, 0),
        tokens=max(MIN_TOKENS, verdict_token_limit(schema) if schema else 0),
    )
