"""Checks of length."""

import re
from typing import Self

from pydantic import Field, model_validator

from issues.checks.check import Arguments, Finding, family
from issues.checks.javascript_regex import SPACE
from issues.checks.subject import Material

check = family("Length")

WORD = re.compile(f"[^{SPACE}]+")


class Range(Arguments):
    """A range of counts, inclusive."""

    least: int = Field(0, ge=0, title="At least")
    most: int | None = Field(None, ge=0, title="At most", description="Leave empty for no limit.")

    @model_validator(mode="after")
    def _is_range(self) -> Self:
        """Refuse empty and unlimited ranges."""
        if self.most is not None and self.most < self.least:
            raise ValueError(f"“most” ({self.most}) is less than “least” ({self.least}).")
        if self.most is None and not self.least:
            raise ValueError("Enter “least”, “most” or both.")
        return self

    def holds(self, count: int) -> bool:
        return self.least <= count and (self.most is None or count <= self.most)

    def in_words(self) -> str:
        if self.most is None:
            return f"at least {self.least}"
        return f"{self.least} to {self.most}"


@check("Number of words", Range)
def word_count(arguments: Range, material: Material) -> Finding:
    """The answer has this many words, split at white space. Outside, scores in proportion."""
    count = len(WORD.findall(material.text))
    explanation = f"Words: {count}; required: {arguments.in_words()}."
    if arguments.holds(count):
        return Finding(1.0, explanation)
    if count < arguments.least:
        return Finding(count / arguments.least, explanation)
    return Finding((arguments.most or 0) / count, explanation)
