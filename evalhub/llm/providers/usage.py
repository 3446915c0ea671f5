"""Reading what a provider counted and charges, in every published form of `usage`. Pure."""

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Any

from evalhub.llm.completion import Usage
from evalhub.llm.providers.responses import first

MAX_TOKENS = 2**31 - 1
MAX_USD = Decimal(100_000)

PLACES: tuple[tuple[str | int, ...], ...] = (
    *(("usage",), ("usageMetadata",), ("usage_metadata",), ("x_groq", "usage")),
    *(("choices", 0, "usage"), ("response", "usage"), ("message", "usage"), ("meta",)),
    *(("timings",), ("details",), ()),
)
"""Where counts are, the usual place first: of OpenAI, Gemini, Groq, Moonshot, llama.cpp, Ollama."""

APART = frozenset(
    (
        *("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),  # Anthropic
        *("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),  # Bedrock
        *("prompt_n", "cache_n"),  # llama.cpp
    )
)
"""Names of parts of the input, which are all of it only together."""

IN = ("prompt_tokens_details", "input_tokens_details", "prompt_token_details")
OUT = ("completion_tokens_details", "output_tokens_details")
NAMES: dict[str, tuple[str, ...]] = {
    "input": (
        *("billed_units.input_tokens", "prompt_tokens", "input_tokens", "inputTokens"),
        *("promptTokenCount", "prompt_token_count", "prompt_eval_count", "prompt_n"),
        *("tokens_evaluated", "prefill_tokens"),
    ),
    "output": (
        *("billed_units.output_tokens", "completion_tokens", "output_tokens", "outputTokens"),
        *("candidatesTokenCount", "candidates_token_count", "eval_count", "predicted_n"),
        *("tokens_predicted", "generated_tokens"),
    ),
    "cached": (
        *(f"{details}.cached_tokens" for details in IN),
        *("prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens", "cache_n"),
        *("cache_read_input_tokens", "cacheReadInputTokens"),
        *("cachedContentTokenCount", "cached_content_token_count"),
    ),
    "written": (
        *("cache_creation_input_tokens", "cacheWriteInputTokens"),
        *(f"{details}.cache_write_tokens" for details in IN),
        *(f"{details}.cache_creation_tokens" for details in IN),
    ),
    "reasoning": (
        *(f"{details}.reasoning_tokens" for details in OUT),
        *(f"{details}.thinking_tokens" for details in OUT),
        *("reasoning_tokens", "thoughtsTokenCount", "thoughts_token_count"),
    ),
    "audio_input": tuple(f"{details}.audio_tokens" for details in IN),
    "audio_output": tuple(f"{details}.audio_tokens" for details in OUT),
    "tools": ("toolUsePromptTokenCount", "tool_use_prompt_token_count"),
    "total": ("total_tokens", "totalTokens", "totalTokenCount", "total_token_count"),
}

PATHS = {name: [path.split(".") for path in paths] for name, paths in NAMES.items()}

CHARGED = (
    *(("cost", 1), ("cost.total_cost", 1), ("total_cost", 1), ("estimated_cost", 1)),
    ("cost_in_usd_ticks", 10**10),
)
"""Names of a price, and how many of its units are a US dollar."""


def usage_of(raw: Any) -> Usage:
    """Return the usage of a reply, given as JSON."""
    counts: dict[str, int | None] = {}
    for place in PLACES:
        counted = first(raw, *place)
        counts = {name: _count(counted, paths) for name, paths in PATHS.items()}
        if counts["input"] is not None or counts["output"] is not None:
            break
    else:
        return Usage()
    if "billed_units" in counted:  # of Cohere, without what came from its cache
        counts["cached"] = None
    found, output = counts["input"], counts["output"]
    if found is not None:
        cache = (counts["cached"] or 0) + (counts["written"] or 0)
        is_of_openai = "prompt_tokens" in counted
        is_apart = cache > found if is_of_openai else len(APART & counted.keys()) > 1
        found += (cache if is_apart else 0) + (counts["tools"] or 0)
    return Usage(
        input_tokens=found,
        output_tokens=_all_output(found, output, counts["reasoning"], counts["total"]),
        cached_tokens=counts["cached"],
        cache_write_tokens=counts["written"],
        reasoning_tokens=counts["reasoning"],
        audio_input_tokens=counts["audio_input"],
        audio_output_tokens=counts["audio_output"],
        charged_usd=_charged(counted),
    )


def _all_output(
    given: int | None, output: int | None, reasoning: int | None, total: int | None
) -> int | None:
    """Return the output with its reasoning, which some count apart (xAI, Gemini).

    The total then has more than input and output. Without a total, or with one that is less than
    both, reasoning is apart where it is more than the output.
    """
    if given is not None and total is not None and total >= given + (output or 0):
        rest = total - given - (output or 0)
        return (output or 0) + rest if rest and reasoning in (None, rest) else output
    is_apart = output is not None and reasoning is not None and reasoning > output
    return (output or 0) + (reasoning or 0) if is_apart else output


def _count(counted: Any, paths: Iterable[list[str]]) -> int | None:
    """Return the first number of tokens at one of these paths: whole, also as text or 12.0."""
    for path in paths:
        if (count := count_of(first(counted, *path))) is not None:
            return count
    return None


def count_of(value: Any) -> int | None:
    """Return a number of tokens; None if it is not one."""
    number = _number(value)
    if number is None or not 0 <= number <= MAX_TOKENS or number != int(number):
        return None
    return int(number)


def _charged(counted: Any) -> Decimal | None:
    """Return the price that a reply states; with that of the upstream provider, if it bills too."""
    for path, units in CHARGED:
        value = usd_of(first(counted, *path.split(".")), units)
        if value is not None:
            is_byok = first(counted, "is_byok") is True  # of OpenRouter: the user's own key
            upstream = first(counted, "cost_details", "upstream_inference_cost") if is_byok else 0
            return value + (_number(upstream) or 0)
    return None


def usd_of(value: Any, units: int = 1) -> Decimal | None:
    """Return a price in US dollars, of which each is so many units; None if it is not one."""
    number = _number(value)
    return number / units if number is not None and 0 <= number / units <= MAX_USD else None


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
