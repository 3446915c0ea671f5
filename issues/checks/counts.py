"""Checks of how much was said."""

import re
from typing import Self

from pydantic import Field, model_validator

from issues.checks.check import Arguments, Check, Finding, family
from issues.checks.javascript_regex import SPACE
from issues.checks.subject import Material

check = family("Length")

WORD = re.compile(f"[^{SPACE}]+")


class Range(Arguments):
    """A range of counts, both ends included."""

    least: int = Field(0, ge=0, title="At least")
    most: int | None = Field(None, ge=0, title="At most", description="Empty: no limit.")

    @model_validator(mode="after")
    def _is_range(self) -> Self:
        """Refuse a range that holds nothing, and one that holds everything."""
        if self.most is not None and self.most < self.least:
            raise ValueError(f"“most” is {self.most}, which is less than “least”, {self.least}.")
        if self.most is None and not self.least:
            raise ValueError("Give “least”, “most” or both.")
        return self

    def holds(self, count: int) -> bool:
        return self.least <= count and (self.most is None or count <= self.most)

    def in_words(self) -> str:
        if self.most is None:
            return f"at least {self.least}"
        return f"{self.least} to {self.most}"


@check("Number of words", Range)
def word_count(arguments: Range, material: Material) -> Finding:
    """The answer has so many words, parted by white space. Too few or too many: in proportion."""
    count = len(WORD.findall(material.text))
    said = f"Words: {count}; {arguments.in_words()} asked."
    if arguments.holds(count):
        return Finding(1.0, said)
    if count < arguments.least:
        return Finding(count / arguments.least, said)
    return Finding((arguments.most or 0) / count, said)


CHECKS: tuple[Check, ...] = (word_count,)
