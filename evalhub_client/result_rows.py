"""Results as flat rows, for a data frame or a spreadsheet. Pure."""

from collections.abc import Mapping
from typing import Any

ANSWER_FIELDS = ("turns", "tool_calls", "documents", "reasoning")


def row_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result with its answer's fields beside its own.

    `answer` is the text; None where there is none, or none that you may read. Run, label, model,
    release and the test's `source_id` are in each row, so that rows of several runs go together.
    """
    answer = result.get("answer")
    parts = {name: answer.get(name) if answer else None for name in ANSWER_FIELDS}
    return {**result, "answer": answer.get("text") if answer else None, **parts}
