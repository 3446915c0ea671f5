"""A provider that misbehaves per request in the ways of real ones, and keeps a ledger of it.

What becomes of a request depends on the seed, its content and how often it was made, not on when.
"""

import json
import random
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, NamedTuple

from tests.provider import HTML, Json, Reply, digest, failure, is_judge, prompt, verdict

PRICES = {
    "input_usd_per_mtok": Decimal(200),
    "output_usd_per_mtok": Decimal(1000),
    "cached_usd_per_mtok": Decimal(50),
    "cache_write_usd_per_mtok": Decimal(250),
}
TIMEOUT_S = 3
NUMBER = re.compile(r"What is (\d+) \+ 2\?")
TOO_LARGE = "Request too large for m on tokens per min (TPM): Limit 30000, Requested 50026."
THOUGHT = "Six and six are twelve."


class Entry(NamedTuple):
    """A request in the provider's books. `usd` None: what it costs is not told in the reply.

    `of` is the number in its question, and whether it was a judge's; `said` the answer or score.
    """

    kind: str
    usd: Decimal | None
    of: tuple[str, bool]
    said: str | int

    @property
    def error_kind(self) -> str:
        """Return the kind of error that its reply is; "" if it is an answer or may hold one."""
        is_of_judge = self.of[1]
        return "broken_off" if is_of_judge and self.kind == "length" else ERRORS.get(self.kind, "")


@dataclass
class Misbehaving:
    """A script of a `Provider`. `ledger` has an entry for each request, by the id in its reply."""

    seed: int
    ledger: dict[str, Entry] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)

    def __call__(self, request: Json) -> Reply:
        key = digest(request)
        self.seen[key] += 1
        source = random.Random(f"{self.seed} {key} {self.seen[key]}")
        said = source.randint(0, 1) if is_judge(request) else f"Twelve {key[:6]}."
        text = said if isinstance(said, str) else verdict(said)
        (kind,) = source.choices(list(WEIGHTS), list(WEIGHTS.values()))
        reply, usd = _reply(kind, text, source)
        name, asked = f"req-{len(self.ledger)}", NUMBER.findall(prompt(request))
        self.ledger[name] = Entry(kind, usd, (asked[0], is_judge(request)), said)
        delay_s = 1.5 if kind == "slow" else source.uniform(0.02, 0.1)
        headers = {**reply.headers, "x-request-id": name}
        return replace(reply, headers=headers, delay_s=delay_s)


WEIGHTS = {
    **{"whole": 40, "odd usage": 15, "no usage": 3, "reasoning": 12, "slow": 3, "stream": 3},
    **{"byte-order mark": 2, "length": 3, "filtered": 2, "error choice": 3, "tool call": 2},
    **{"policy 400": 2, "policy 403": 2, "429": 3, "429 too large": 1, "500": 3, "503 page": 2},
    **{"cut JSON": 2, "cut short": 2, "reset": 2, "empty": 2, "hang": 1},
}
REFUSALS = {
    "policy 400": failure(400, "Invalid prompt: it was flagged.", "invalid_prompt"),
    "policy 403": failure(403, "Content violates usage guidelines.", "permission-denied"),
    "429": failure(429, "Rate limit reached.", "rate_limit_exceeded", retry_after="1"),
    "429 too large": failure(429, TOO_LARGE, "rate_limit_exceeded"),
    "500": failure(500, "The server had an error."),
    "503 page": Reply(status=503, body=HTML, headers={"Content-Type": "text/html"}),
}
"""What is answered without work, and not billed."""
ERRORS = {
    **dict.fromkeys(("filtered", "policy 400", "policy 403"), "content_filtered"),
    **{"error choice": "broken_off", "empty": "empty_answer", "cut JSON": "unreadable_reply"},
    **{"429": "rate_limited", "429 too large": "context_too_long"},
    **dict.fromkeys(("500", "503 page"), "server_error"),
}
NO_REPLY = {"reset", "hang", "cut short"}


def _reply(kind: str, text: str, source: random.Random) -> tuple[Reply, Decimal | None]:
    """What is sent, and what it costs; None where the reply does not tell."""
    if kind in REFUSALS:
        return REFUSALS[kind], Decimal(0)
    if kind == "reset":
        return Reply(status=0), None
    if kind == "hang":
        return Reply(hang=True), None
    usage, usd = _usage(source if kind == "odd usage" else None, source.randint(20, 900))
    choice: Json = {"index": 0, "finish_reason": "stop"}
    message: Json = {"role": "assistant", "content": text}
    if kind == "reasoning":
        message |= source.choice(_thoughts(text))
    elif kind == "tool call":
        function = {"name": "count_words", "arguments": '{"text": "a b"}'}
        calls = [{"id": "c1", "type": "function", "function": function}]
        message |= {"content": None, "tool_calls": calls}
        choice["finish_reason"] = "tool_calls"
    elif kind == "length":
        message["content"], choice["finish_reason"] = text[:9], "length"
    elif kind == "filtered":
        message["content"], choice["finish_reason"] = text[:9], "content_filter"
    elif kind == "error choice":
        choice |= {"finish_reason": "error", "error": {"code": 502, "message": "Upstream broke."}}
    elif kind == "empty":
        message["content"] = ""
    whole: Json = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    whole |= {"choices": [choice | {"message": message}]}
    whole |= {} if kind == "no usage" else {"usage": usage}
    body = json.dumps(whole)
    if kind == "no usage":
        return Reply(body=body), None
    if kind == "cut JSON":
        return Reply(body=body[: len(body) // 2]), None
    if kind == "cut short":
        return Reply(body=body, cut_short=True), None
    if kind == "stream":
        delta = {"choices": [{"index": 0, "delta": message, "finish_reason": "stop"}]}
        chunks = (delta, {"choices": [], "usage": usage})
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        return Reply(body=body, headers={"Content-Type": "text/event-stream"}), usd
    if kind == "byte-order mark":
        body = f"\ufeff{body}"
    return Reply(body=body), usd


def _thoughts(text: str) -> list[Json]:
    """A message with reasoning in each published form."""
    in_text = ("<think>{}</think>\n", "{}\n</think>\n", "<Think>{}</Think>", "[THINK]{}[/THINK]")
    return [
        *({"content": form.format(THOUGHT) + text} for form in in_text),
        *({name: THOUGHT} for name in ("reasoning_content", "reasoning", "thinking")),
        {"reasoning_details": [{"type": "reasoning.text", "text": THOUGHT}]},
        {"content": [{"type": "thinking", "thinking": THOUGHT}, {"type": "text", "text": text}]},
    ]


def _usage(source: random.Random | None, given: int) -> tuple[Json, Decimal]:
    """Counts in one of the forms of providers, and what they cost."""
    cached, written, output, thought = given // 2, given // 10, 20, 70
    plain = _usd(given, output)
    if source is None:
        return {"prompt_tokens": given, "completion_tokens": output}, plain
    details = {"cached_tokens": cached}
    thinking = {"completion_tokens_details": {"reasoning_tokens": thought}}
    fresh = given - cached - written
    forms: list[tuple[Json, Decimal]] = [
        ({"prompt_tokens": float(given), "completion_tokens": float(output)}, plain),
        ({"prompt_tokens": str(given), "completion_tokens": str(output)}, plain),
        ({"input_tokens": given, "output_tokens": output}, plain),
        (_counts(given, output, total=given + output), plain),
        (_counts(given, output, prompt_tokens_details=details), _usd(given, output, cached)),
        (_counts(given, output, prompt_cache_hit_tokens=cached), _usd(given, output, cached)),
        (
            {
                **{"input_tokens": fresh, "output_tokens": output},
                **{"cache_read_input_tokens": cached, "cache_creation_input_tokens": written},
            },
            _usd(given, output, cached, written),
        ),
        (  # reasoning within the output
            _counts(given, output + thought, total=given + output + thought, **thinking),
            _usd(given, output + thought),
        ),
        (  # reasoning beside it
            _counts(given, output, total=given + output + thought, **thinking),
            _usd(given, output + thought),
        ),
        (_counts(given, output, **thinking), _usd(given, output + thought)),
        (_counts(given, output, cost=0.0123), Decimal("0.0123")),
        (_counts(given, output, cost_in_usd_ticks=123_000_000), Decimal("0.0123")),
    ]
    return source.choice(forms)


def _counts(given: int, output: int, total: int | None = None, **more: Any) -> Json:
    counts = {"prompt_tokens": given, "completion_tokens": output, **more}
    return counts if total is None else {**counts, "total_tokens": total}


def _usd(given: int, output: int, cached: int = 0, written: int = 0) -> Decimal:
    fresh = given - cached - written
    return Decimal(fresh * 200 + cached * 50 + written * 250 + output * 1000) / 1_000_000
