"""The content of a reply for its page: texts, and the unsupported numbers in them."""

from collections.abc import Sequence
from typing import Any

from reports.summaries.numbers import Figures, unsupported
from reports.summaries.parse import Parsed

KINDS = ("findings", "strengths", "weaknesses", "patterns")


def content_of(parsed: Parsed, figures: Sequence[float], sent: str) -> dict[str, Any]:
    """Return the content as `ExecutiveSummary.content` stores it.

    A text has its ids, and the positions of unsupported numbers in `flagged`.

    Args:
        figures: The numbers that were stated.
        sent: The whole text that was sent, in which numbers may be quoted.
    """
    known = Figures(figures, quoted=sent)
    lines = {
        kind: [
            {"text": text, "flagged": unsupported(text, known)} for text in getattr(parsed, kind)
        ]
        for kind in KINDS
    }
    return {**lines, "problems": list(parsed.problems)}
