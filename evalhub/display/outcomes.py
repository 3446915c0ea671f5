"""Outcomes of results: the label, colour and chart pattern of each, for every page and file. Pure.

The colours are CSS variables, with one value per theme, in `static/evalhub/colours.css`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class OutcomeStyle:
    """Label, colour and pattern of an outcome; the pattern shows in black-and-white print."""

    label: str
    colour: str
    pattern: str = ""
    plural: str = ""

    def counted(self, n: int) -> str:
        """Return a count of this outcome in words, such as "2 errors"."""
        return f"{n:,} {(n != 1 and self.plural) or self.label.lower()}"


OUTCOMES = {
    "passed": OutcomeStyle("Passed", "var(--eh-passed)"),
    "failed": OutcomeStyle("Failed", "var(--eh-failed)"),
    "unscored": OutcomeStyle("Unscored", "var(--eh-unscored)", "/"),
    "error": OutcomeStyle("Error", "var(--eh-error)", "x", "errors"),
    "pending": OutcomeStyle("Pending", "var(--eh-pending)", "."),
}
"""In the order in which they are always shown."""
