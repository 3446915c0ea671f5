"""What the record of a call takes from its completion."""

from evalhub.llm.completion import Completion
from evalhub.llm.models import Call


def fill(call: Call, completion: Completion | None) -> None:
    """Copy a completion into the record of its call; None: there was no reply."""
    if completion is None:
        return
    call.reply, call.sent_params = completion.reply, completion.sent_params
    call.refused_params = completion.refused_params or None
    call.request_id = completion.request_id[:200]
    call.finish_reason = completion.finish_reason[:50]
    call.input_tokens, call.output_tokens = completion.input_tokens, completion.output_tokens
    call.latency_ms = completion.latency_ms
    if completion.cost_usd is not None:
        call.cost_usd = completion.cost_usd


def cost_of(call: Call) -> float:
    """Return the cost in US dollars; 0 if unknown."""
    return float(call.cost_usd or 0)
