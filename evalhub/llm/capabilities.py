"""What an endpoint takes: by LiteLLM's map of models, and by what it refused.

A refusal that names a parameter is learnt once per model: it is stored with the model
(`LanguageModel.refused_params`), and each process that calls the model follows what is stored.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from evalhub.llm.parameters import LIMITS

Refused = Mapping[str, Any]
"""A refused parameter: the provider's `words`, the name that is sent `instead` (""), and the `only`
value that it takes (None)."""

SYSTEM = "system role"
"""The name of the system role among refused parameters: its text is sent as the user's."""

WHOLE = "reply in one piece"
"""The name of it among refused parameters: a stream is asked for, and put together."""

MAP = "model_prices_and_context_window_backup.json"
LISTED = {
    "supports_sampling_params": "temperature",
    "supports_system_messages": SYSTEM,
    "supports_function_calling": "tools",
    "supports_vision": "images",
    "supports_reasoning": "reasoning_effort",
    "supports_response_schema": "response_format",
}
"""What LiteLLM's map says of a model, and what it is called here."""

PRICES = {
    *("input_cost_per_token", "cache_read_input_token_cost", "cache_creation_input_token_cost"),
}
"""What it says of prices, in US dollars per token."""

NAMES = {
    "temperature": "Temperature",
    "max_tokens": "Token limit",
    SYSTEM: "System role",
    "tools": "Tools",
    "images": "Images",
    "reasoning_effort": "Reasoning effort",
    "response_format": "JSON schema",
}
"""Capabilities that a model's page shows."""

NEVER_DROPPED = {"tools", "tool_choice", "images"}
"""Parts of the question itself: without them it would be another one."""

UNSUPPORTED = re.compile(
    r"unsupported|(not|n't|no longer) (be )?(currently )?(support|permit|allow|accept|available|"
    r"enabled|recogni|a valid|compatible)|deprecated|unrecogni|unknown|extra_?(forbidden|neous)|"
    r"extra (inputs|fields)|cannot (both )?be (specified|used|set)|only the default|only "
    r"(temperature ?= ?)?1\b|may only be|must be (set to )?1\b|cannot find field|at the same time|"
    r"does not (take|accept)|unexpected (keyword|parameter|field)|must be unset|only [\d.]+ is "
    r"allowed|invalid (message )?role|roles (are supported|must alternate)",
    re.IGNORECASE,
)
"""Words by which a parameter is refused, whatever its value or but for one."""

OUT_OF_RANGE = re.compile(r"between|at (most|least)|(less|greater) than|range|[<>≤≥]=? ?\d", re.I)
ONLY = re.compile(r"(?:default \(|only (?:temperature ?= ?)?|be (?:set to )?)(\d+(?:\.\d+)?)", re.I)
ALIASES = {
    "response_format": r"response.?(format|schema|mime)|json.?schema|structured.?outputs?|"
    r"output.?(format|config)|grammar|guided|json mode|too many states|nesting depth",
    "reasoning_effort": r"reasoning.?effort|thinking|output.?config",
    SYSTEM: r"system (role|message|prompt|instruction)|developer instruction|'system'|role.{1,9}"
    r"system|(user and assistant|conversation) roles",
    "images": r"image|vision|multi-?modal",
    "tools": r"tools?\b|function calling",
}
STREAMED = re.compile(r"only supports? stream|non-streaming calls|stream must be set to true", re.I)
"""Words of a server that replies in a stream alone."""
READ = 2_000
"""Characters of a refusal in which a parameter is looked for."""


def listed(litellm_model: str) -> Mapping[str, bool]:
    """Return what LiteLLM's map says of a model; {} if it does not know it."""
    entry = entry_of(litellm_model)
    return {LISTED[key]: bool(entry[key]) for key in LISTED if entry.get(key) is not None}


def entry_of(litellm_model: str) -> Mapping[str, Any]:
    """Return the entry of a model in LiteLLM's map; {} if it has none."""
    provider, _, name = litellm_model.partition("/")
    entry = _map().get(litellm_model)
    if entry is None and _map().get(name, {}).get("litellm_provider") == provider:
        entry = _map()[name]
    return entry or {}


@cache
def _map() -> Mapping[str, Mapping[str, Any]]:
    """Return what is used of LiteLLM's map, read without importing LiteLLM, which takes seconds."""
    found = find_spec("litellm")
    if found is None or not found.submodule_search_locations:
        return {}
    path = Path(next(iter(found.submodule_search_locations))) / MAP
    entries = json.loads(path.read_text()) if path.exists() else {}
    used = {*LISTED, *PRICES, "litellm_provider"}
    return {
        name: {key: value for key, value in entry.items() if key in used}
        for name, entry in entries.items()
    }


def default_temperature(litellm_model: str, temperature: float) -> float | None:
    """Return the temperature to ask a model for; None: it is known to take none."""
    return None if listed(litellm_model).get("temperature") is False else temperature


_refused: dict[int, dict[str, Refused]] = {}
"""The refused parameters of the models that this process calls, by id."""


def refused_by(language_model_id: int) -> Mapping[str, Refused]:
    return _refused.get(language_model_id, {})


def follow(language_model_id: int, stored: Mapping[str, Refused]) -> None:
    """Take over what is stored with a model, or will be."""
    _refused[language_model_id] = dict(stored)


def refused_parameter(
    text: str,
    words: str,
    sent: Mapping[str, Any],
    *,
    has_system: bool,
    has_schema: bool = False,
    can_stream: bool = False,
) -> tuple[str, Refused] | None:
    """Return the parameter that a refusal names, of those that were sent; None: none.

    Args:
        text: The whole reply, in which the parameter may be named apart.
        words: Its message for people.
        has_system: A system message was sent.
        has_schema: The schema was sent by EvalHub itself, which can do without.
        can_stream: EvalHub can ask for a stream instead of a reply in one piece.
    """
    text = text[:READ]
    if can_stream and STREAMED.search(text):
        return WHOLE, _entry(WHOLE, words)
    if has_schema and names_schema(text):
        return "response_format", _entry("response_format", words)
    if not UNSUPPORTED.search(text) or OUT_OF_RANGE.search(text):
        return None
    inner = sent.get("extra_body")
    names = {*sent, *(inner if isinstance(inner, Mapping) else ())} - {"extra_body"}
    if has_system:
        names.add(SYSTEM)
    places = {name: _found(name, text) for name in names - NEVER_DROPPED}
    named = {name: place for name, place in places.items() if place is not None}
    if not named:
        return None
    name = min(named, key=lambda name: (named[name], name))
    return name, _entry(name, words)


def names_schema(text: str) -> bool:
    return _found("response_format", text[:READ]) is not None


def _found(name: str, text: str) -> int | None:
    """Return where a text names a parameter first; None: nowhere."""
    spelled = ALIASES.get(name) or re.escape(name).replace("_", "[_ -]?")
    if name not in ALIASES and name != "temperature" and "_" not in name:  # a word like any other
        spelled = rf"(?:(?<=['\"`\[(])|(?<=: )){spelled}"
    found = re.search(rf"(?<![a-z_])({spelled})(?![a-z_])", text, re.IGNORECASE)
    return found.start() if found else None


def _entry(name: str, words: str) -> Refused:
    only = ONLY.search(words) if name == "temperature" else None
    return {
        "words": " ".join(words.split())[:300].rstrip("."),
        "instead": LIMITS.get(name, ""),
        "only": float(only.group(1)) if only else None,
    }


def without_refused(
    wanted: Mapping[str, Any], refused: Mapping[str, Refused]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters to send, and those that are left out because they are refused."""
    sent: dict[str, Any] = {}
    dropped: dict[str, Any] = {}
    for name, value in wanted.items():
        entry = refused.get(name)
        if name == "extra_body":
            sent[name], inner = without_refused(value, refused)
            dropped |= inner
        elif entry is None or name in NEVER_DROPPED or value == entry["only"]:
            sent[name] = value
        elif (other := entry["instead"]) and other not in refused:
            sent.setdefault(other, wanted.get(other, value))
        else:
            dropped[name] = value
    return sent, dropped


def without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a conversation with its system messages as the beginning of the user's first one."""
    texts = [str(one["content"]) for one in messages if one.get("role") == "system"]
    others = [one for one in messages if one.get("role") != "system"]
    if not texts:
        return messages
    first = next((n for n, one in enumerate(others) if one.get("role") == "user"), None)
    head = "\n\n".join(texts)
    if first is None:
        return [{"role": "user", "content": head}, *others]
    content = others[first]["content"]
    if isinstance(content, str):
        joined: Any = f"{head}\n\n{content}"
    else:
        joined = [{"type": "text", "text": head}, *content]
    return [*others[:first], {**others[first], "content": joined}, *others[first + 1 :]]


def recorded(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a call's record holds them: without tools and the text of a schema."""
    found = {name: value for name, value in params.items() if name != "tools"}
    if isinstance(form := found.get("response_format"), Mapping):
        found["response_format"] = form.get("type", "")
    return found


class Capability(NamedTuple):
    """What is known of a capability: accepted, refused, renamed or unknown, and from what."""

    name: str
    state: str
    reason: str


def capabilities_of(
    litellm_model: str, refused: Mapping[str, Refused], params: Mapping[str, Any]
) -> list[Capability]:
    """Return what a model's page shows; `params` are those set for the model."""
    known, (_, dropped) = listed(litellm_model), without_refused(params, refused)
    found = []
    for name in [*NAMES, *sorted(refused.keys() - NAMES.keys())]:
        entry, title = refused.get(name), NAMES.get(name, name)
        if entry is None:
            state, said = {
                None: ("unknown", "Sent until the endpoint refuses it."),
                True: ("accepted", "LiteLLM lists it as supported."),
                False: ("refused", "LiteLLM lists it as not supported."),
            }[known.get(name)]
            found.append(Capability(title, state, said))
            continue
        reasons = [f"The endpoint said: “{entry['words']}”."]
        is_renamed = entry["instead"] and entry["instead"] not in refused
        if is_renamed:
            reasons.append(f"Sent as {entry['instead']}.")
        elif entry["only"] is not None:
            reasons.append(f"Sent only where it is {entry['only']:g}.")
        if dropped.get(name) is not None:
            reasons.append(f"{dropped[name]!r}, set in its parameters, is not sent.")
        state = "renamed" if is_renamed else "refused"
        found.append(Capability(title, state, " ".join(reasons)))
    return found
