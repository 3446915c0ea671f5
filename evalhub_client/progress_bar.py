"""The progress of runs as a line of a terminal."""

import sys
from collections.abc import Sequence
from typing import TextIO

from evalhub_client.shapes import RunProgress

WIDTH = 30


class ProgressBar:
    """Writes one line and overwrites it; silent where nobody looks, as in a pipeline."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_watched = self._stream.isatty()
        self._last = ""

    def __call__(self, progress: Sequence[RunProgress]) -> None:
        text = line_of(progress)
        if self._is_watched and text != self._last:
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()
            self._last = text

    def close(self) -> None:
        if self._last:
            self._stream.write("\n")
            self._last = ""


def line_of(progress: Sequence[RunProgress]) -> str:
    """Return a bar of answers and judgments together, and the number of each."""
    total = sum(one["total"] for one in progress)
    answered = sum(one["answered"] for one in progress)
    judged = sum(one["judged"] for one in progress)
    to_judge = sum(one["to_judge"] for one in progress)
    share = (answered + judged) / (total + to_judge) if total + to_judge else 0.0
    filled = round(WIDTH * min(share, 1.0))
    bar = "█" * filled + "░" * (WIDTH - filled)
    verdicts = f", {judged:,} of {to_judge:,} judgments" if to_judge else ""
    return f"{bar} {answered:,} of {total:,} answers{verdicts}"
