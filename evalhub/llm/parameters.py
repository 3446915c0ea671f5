"""Parameters of calls: which may be set, their problems, and those of EvalHub itself. Pure."""

import re
from collections.abc import Mapping
from typing import Any

RESERVED = {
    "allowed_openai_params",
    "api_base",
    "api_key",
    "base_url",
    "caching",
    "client",
    "custom_llm_provider",
    "default_headers",
    "deployment_id",
    "extra_headers",
    "fallbacks",
    "headers",
    "http_client",
    "max_retries",
    "messages",
    "mock_delay",
    "mock_response",
    "mock_timeout",
    "mock_tool_calls",
    "model",
    "model_list",
    "num_retries",
    "proxy",
    "request_timeout",
    "shared_session",
    "ssl_verify",
    "stream",
    "stream_options",
    "timeout",
}
"""Names for the address, key, retries and form of a reply, which EvalHub sets."""

RESERVED_ENDINGS = ("_base", "_endpoint", "_file", "_host", "_url", "callback", "callbacks")
"""Endings of names that make some providers call an address or read a file."""

PLACES = ("region", "region_name", "vertex_location", "vertex_ai_location", "account_id")
"""Endings of names whose value becomes part of a host name."""

SECRET = (
    *("api_key", "apikey", "secret", "password", "credentials"),
    *("access_token", "ad_token", "auth_token", "identity_token", "session_token"),
)
"""Parts of names under which a key would be stored."""


def parameter_problems(params: Mapping[str, Any]) -> list[str]:
    """Return the problems of parameters, a sentence for each; empty if they can be sent."""
    problems = [_problem(name, value) or _detour(name, value) for name, value in params.items()]
    inside = params.get("extra_body")
    if isinstance(inside, Mapping):
        problems += [_problem(name, value) for name, value in inside.items()]
    return [problem for problem in problems if problem]


def _problem(name: str, value: Any) -> str:
    if name in RESERVED or name.startswith("litellm_"):
        return f"{name!r} is set by EvalHub itself and cannot be a parameter."
    if any(part in name.lower() for part in SECRET):
        return f"{name!r} looks like a secret: keys are read from the environment only."
    if name == "n" and value not in (None, 1):
        return f"'n' = {value!r} asks for several answers in one call: use repeats instead."
    if name == "extra_body" and not isinstance(value, Mapping):
        return f"'extra_body' must be an object, not {value!r}."
    return ""


def _detour(name: str, value: Any) -> str:
    """Return the problem of a parameter that would redirect a call; "" if none."""
    if name.lower().endswith(RESERVED_ENDINGS):
        return f"{name!r} says where to call or what to read, which no parameter may."
    is_plain = value is None or re.fullmatch(r"[A-Za-z0-9_-]{1,40}", str(value))
    if name.lower().endswith(PLACES) and not is_plain:
        return f"{name!r} must be a plain name such as us-east-1, not {value!r}."
    return ""


LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""The two names of the limit of a reply, and the other of each."""


def merged(of_model: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model's parameters as those of a call override them; one that is None is left out.

    A limit of the call replaces that of the model under either name.
    """
    replaced = {LIMITS[name] for name in LIMITS if own.get(name) is not None} - own.keys()
    found = {name: value for name, value in of_model.items() if name not in replaced}
    found |= own
    return {name: value for name, value in found.items() if value is not None}


def own_params(
    of_model: Mapping[str, Any],
    own: Mapping[str, Any],
    *,
    temperature: float | None,
    tokens: int | None = None,
    overrides: bool = False,
    is_exact: bool = False,
) -> dict[str, Any]:
    """Return the parameters of a request that EvalHub makes itself: to a judge, analyst or writer.

    What is null in the model's parameters is not sent, unless `own` sets it. The limit has the name
    that `own` or the model gives it.

    Args:
        of_model: The model's parameters.
        own: What somebody set for this use, such as a judge's parameters.
        temperature: Where nobody set one; None: the model takes none.
        tokens: The least limit of the reply; a higher one of the model stays, unless this one
            `is_exact`. None: that of the model, if any.
        overrides: The temperature goes before that of the model.
    """
    names = [name for given in (own, of_model) for name in LIMITS if given.get(name) is not None]
    limit = names[0] if names else "max_tokens"
    found: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
    kept = {"temperature"} if overrides and of_model.get("temperature") is not None else set()
    found |= {name: value for name, value in of_model.items() if name not in found.keys() & kept}
    found.pop(LIMITS[limit], None)
    if tokens and of_model.get(limit, 0) is not None:
        found[limit] = max(tokens, 0 if is_exact else of_model.get(limit) or 0)
    return {**found, **own}
