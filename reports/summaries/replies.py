"""An analyst's reply, what is wrong with it, and the request to mend it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from reports.summaries.content import problems_of
from reports.summaries.figure_table import FigureTable
from reports.summaries.key import Key
from reports.summaries.parse import parse
from reports.summaries.reduce import CHARACTERS_PER_TOKEN
from reports.summaries.reply_form import repair_request

UNUSABLE = "unusable_reply"
MAX_PROBLEMS = 20
"""Problems that an analyst is asked to mend at once."""


@dataclass
class SummaryReply:
    """A reply, and why it is unusable or missing; usable without an error.

    Attributes:
        call: The recorded call (a `Call`), None without a reply.
        problems: What the analyst can mend; also of a usable reply.
        repair: The messages after the first reply and the second reply; [] without.
        is_saved: The call is recorded already.
    """

    text: str = ""
    call: Any = None
    error_kind: str = ""
    error_message: str = ""
    problems: Sequence[str] = ()
    repair: list[dict[str, str]] = field(default_factory=list)
    is_saved: bool = False

    def is_better_than(self, other: "SummaryReply") -> bool:
        """Return whether it is usable where the other is not, or else has fewer problems."""
        own, others = ((bool(reply.error_kind), len(reply.problems)) for reply in (self, other))
        return own < others


def read(
    text: str, key: Key, table: FigureTable, call: Any, finish_reason: str = ""
) -> SummaryReply:
    """Read a reply: unusable without a statement or grade."""
    parsed = parse(text, key)
    problems = problems_of(parsed, key, table)
    if parsed.is_usable:
        return SummaryReply(text, call, problems=problems)
    if not text.strip():
        message = f"The analyst's reply was empty (it ended with “{finish_reason}”)."
    else:
        found = f" {' '.join(parsed.problems[:3])}" if parsed.problems else ""
        message = f"The reply has no finding and no grade that could be parsed.{found}"
    return SummaryReply(text, call, UNUSABLE, message, [*problems, message])


def repair_messages(first: SummaryReply) -> list[dict[str, str]]:
    """Return the messages after the request: the first reply, and what is wrong with it."""
    return [
        {"role": "assistant", "content": first.text.strip() or "(no text)"},
        {"role": "user", "content": repair_request(first.problems[:MAX_PROBLEMS])},
    ]


class Sized(Protocol):
    """A request with its limits."""

    messages: list[dict[str, Any]]
    params: dict[str, Any]
    context_tokens: int


def room_for_repair(job: Sized, first: SummaryReply) -> bool:
    """Return whether request, reply and second reply fit into the analyst's context."""
    written = sum(len(one["content"]) for one in [*job.messages, *repair_messages(first)])
    tokens = int(job.params.get("max_tokens") or 0)
    return written / CHARACTERS_PER_TOKEN + tokens <= job.context_tokens
