"""A comparison on one page, for people who do not use the site. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalhub.display.formatting import clip, few
from evalhub.statistics.changes.conclusion import Basis, Word
from evalhub.statistics.interval import Interval

MAX_SUBJECT = 120
SURE = frozenset((Word.WORSE, Word.MIXED, Word.BETTER))
OF_MANY = {
    (Word.WORSE, Basis.PEOPLE): "worse",
    (Word.WORSE, Basis.JUDGES): "judges rate worse",
    (Word.MIXED, None): "mixed, with lost issues",
    (Word.BETTER, Basis.PEOPLE): "better",
    (Word.BETTER, Basis.JUDGES): "judges rate better",
    (Word.CANNOT_TELL, None): "cannot tell",
    (Word.SAME, None): "no outcome changed",
    (Word.NOTHING, None): "not compared",
}
"""Conclusions of several models at once, in the order of a list; None: on any basis."""

NAMED = 3
"""Models of one conclusion that are named; of more sure ones no counts are said."""


class Passed(NamedTuple):
    """Answers passed, of those scored."""

    passed: int
    n: int

    def __str__(self) -> str:
        return f"{self.passed:,} of {self.n:,}"


class Finding(NamedTuple):
    """A conclusion on one or several models, as a clause."""

    word: Word
    text: str


@dataclass(frozen=True)
class HandoutLine:
    """What became of one model.

    Attributes:
        word: The conclusion; where there is nothing to compare, `finding` says why.
        finding: The conclusion as pages say it.
        changed: What was lost and won.
        sure: Whether that is sure.
        change: The net change of the pass rate with `interval`; None: not measured.
    """

    name: str
    word: Word
    finding: str
    before: Passed | None = None
    now: Passed | None = None
    changed: str = ""
    sure: str = ""
    change: float | None = None
    interval: Interval | None = None
    basis: Basis = Basis.JUDGES

    @property
    def counts(self) -> str:
        """Return both counts, such as "43 of 72, was 64"; "" where either is unknown."""
        return f"{self.now}, was {self._was}" if self.before and self.now else ""

    @property
    def from_to(self) -> str:
        """Return the same as a cell of a table, such as "64 → 43 of 72"."""
        return " → ".join(str(one) for one in (self._was, self.now) if one is not None)

    @property
    def _was(self) -> Passed | int | None:
        if self.before is None or self.now is None or self.before.n != self.now.n:
            return self.before
        return self.before.passed


@dataclass(frozen=True)
class Handout:
    """Two sides of one or several models.

    Attributes:
        about: What a subject begins with, such as "1.4".
        names: Of the side before and the side now.
        lines: Losses first.
        lost: Sentences on lost issues, the surest first.
        notes: Further sentences: families, lines left out, reviews.
        cost: Of the side now.
        decision: Of people on it; "" without one.
    """

    about: str
    names: tuple[str, str]
    lines: tuple[HandoutLine, ...]
    lost: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cost: str = ""
    decision: str = ""

    @property
    def subject(self) -> str:
        """Return the findings in one line of a mail, at most 120 characters."""
        return clip(f"{self.about}: {'; '.join(one.text for one in self.findings)}", MAX_SUBJECT)

    @property
    def findings(self) -> list[Finding]:
        """Return the conclusions, losses first: models without a sure change are named together."""
        return list(self._findings())

    @property
    def span(self) -> float:
        """Return the end of the axis of changes, in [0.05, 1]."""
        ends = [
            abs(end)
            for line in self.lines
            for end in (line.interval or ())
            if line.change is not None
        ]
        return next(step for step in (0.05, 0.1, 0.2, 0.3, 0.5, 1.0) if step >= max([*ends, 0.0]))

    def _findings(self) -> Iterator[Finding]:
        for (word, basis), said in OF_MANY.items():
            lines = [line for line in self.lines if line.word == word]
            lines = [line for line in lines if basis in (None, line.basis)]
            if word in SURE and len(lines) <= NAMED:
                for line in lines:
                    counts = f" ({line.counts})" if line.counts else ""
                    yield Finding(word, line.finding + counts)
            elif lines:
                yield Finding(word, f"{said}: {few([line.name for line in lines], most=NAMED)}")


def together(sentences: Sequence[str], most: int) -> tuple[str, ...]:
    """Return the first sentences, and how many are left out."""
    rest = len(sentences) - most
    return (*sentences[:most], *([f"And {rest:,} more."] if rest > 0 else []))
