"""A support desk as a real HTTP application: it remembers conversations, and looks things up."""

import json
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from tests.provider import Reply

Json = dict[str, Any]

DOCUMENT = {"title": "returns.md", "content": "Returns are free within 30 days."}
SETTINGS: Json = {
    "kind": "application",
    "litellm_model": "",
    "headers": {"Authorization": "Bearer {{ DESK_KEY }}", "X-Session": "{{ session_id }}"},
    "body": {"question": "{{ prompt }}", "conversation": "{{ session_id }}"},
    "answer_path": "$.reply.text",
    "documents_path": "$.sources",
    "tool_calls_path": "$.steps[*]",
    "input_tokens_path": "$.usage.in",
    "output_tokens_path": "$.usage.out",
    "cost_path": "$.usage.usd",
}
"""Fields of a language model that calls the desk."""


class Desk:
    """Answers `SETTINGS.body`. `sessions` are the questions of each conversation, in order.

    `replies` come first, one for each request, in place of what the desk would say.
    """

    def __init__(self, *replies: Reply, judge: Callable[[Json], Reply | str] | None = None) -> None:
        self.sessions: dict[str, list[str]] = defaultdict(list)
        self.replies, self.judge = list(replies), judge

    def __call__(self, request: Json) -> Reply | str:
        if "question" not in request:
            assert self.judge is not None
            return self.judge(request)
        if self.replies:
            return self.replies.pop(0)
        asked = self.sessions[request["conversation"]]
        asked.append(request["question"])
        return Reply(body=json.dumps(answer(asked)))


def answer(asked: list[str]) -> Json:
    """What the desk replies to the last of these questions."""
    return {
        "reply": {"text": f"Reply {len(asked)} to: {asked[-1]}"},
        "sources": [DOCUMENT] if "return" in asked[-1] else [],
        "steps": [{"tool": "search", "args": {"query": asked[-1]}}],
        "usage": {"in": 10 * len(asked), "out": 5, "usd": 0.002},
    }
