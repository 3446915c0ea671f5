"""What two sides of a comparison show: one conclusion, with what is missing counted against it.

Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from evalhub.statistics.changes.lost_issues import LostIssues, lost_issues
from evalhub.statistics.changes.net_change import LEVEL, NetChange, net_change
from evalhub.statistics.interval import Interval


class Word(StrEnum):
    """A conclusion. `MIXED`: better on the whole, but issues were lost."""

    WORSE = "worse"
    MIXED = "mixed"
    BETTER = "better"
    SAME = "no_outcome_changed"
    CANNOT_TELL = "cannot_tell"
    NOTHING = "nothing_to_compare"

    @property
    def is_loss(self) -> bool:
        return self in (Word.WORSE, Word.MIXED)


class Basis(StrEnum):
    """Whose verdicts a conclusion rests on.

    `JUDGES`: judges alone, and no verdict of a person counts. `PEOPLE`: what people read blind,
    which judges' verdicts on all answers make more precise.
    """

    JUDGES = "judges"
    PEOPLE = "people"


ORDER = (Word.WORSE, Word.MIXED, Word.BETTER, Word.CANNOT_TELL, Word.SAME, Word.NOTHING)
"""Conclusions as a list shows them: losses first."""


class Outcome(NamedTuple):
    """The outcome of a test on one side: its share of passed answers, each in [0, 1].

    Attributes:
        share: None: no answer has a score.
        low: The lowest that what is missing allows; 0 without a score.
        high: The highest; 1 without a score.
    """

    share: float | None
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def whole(cls, share: float) -> "Outcome":
        """Return an outcome behind which nothing is missing."""
        return cls(share, share, share)


class Pair(NamedTuple):
    """A test that both sides have."""

    issue: int
    old: Outcome
    new: Outcome

    @property
    def is_whole(self) -> bool:
        return all(side.low == side.high for side in (self.old, self.new))


@dataclass(frozen=True)
class Reading:
    """What one set of changes shows: on the whole (A), and issue by issue (B)."""

    net: NetChange
    lost: LostIssues
    has_changed: bool

    @property
    def is_better(self) -> bool:
        return self.net.is_sure and self.net.change > 0

    @property
    def word(self) -> Word:
        if self.is_better:
            return Word.MIXED if self.lost.is_sure else Word.BETTER
        if self.lost.is_sure or self.net.is_sure:
            return Word.WORSE
        return Word.CANNOT_TELL if self.has_changed else Word.SAME


@dataclass(frozen=True)
class Conclusion:
    """A conclusion with its evidence.

    Attributes:
        word: The conclusion, which holds whatever is missing.
        reading: Of the tests that both sides have scored; None: there are none.
        against_new: The same with all that is missing counted against the new side.
        against_old: And against the old side.
        missing_old: Tests behind whose outcome something is missing on the old side.
        missing_new: And on the new side.
        basis: Whose verdicts it rests on, which decides how it is said.
    """

    word: Word
    reading: Reading | None
    against_new: Reading | None = None
    against_old: Reading | None = None
    missing_old: int = 0
    missing_new: int = 0
    basis: Basis = Basis.JUDGES

    @property
    def interval(self) -> Interval | None:
        """The interval of the change, with what is missing counted either way."""
        if self.against_new is None or self.against_old is None:
            return None
        return Interval(self.against_new.net.interval.low, self.against_old.net.interval.high)

    @property
    def p(self) -> float | None:
        """The p of the change by the bound that speaks against the conclusion."""
        if self.reading is None or self.against_new is None or self.against_old is None:
            return None
        against = self.against_old if self.reading.net.change < 0 else self.against_new
        return against.net.p

    @property
    def would_say(self) -> Word | None:
        """What the scored tests say where what is missing leaves no conclusion; else None."""
        if self.word != Word.CANNOT_TELL or self.reading is None:
            return None
        said = self.reading.word
        return said if said not in (Word.CANNOT_TELL, Word.SAME) else None

    @property
    def may_hide_loss(self) -> bool:
        """Tell whether what is missing could hide a loss."""
        hidden = self.against_new is not None and self.against_new.word.is_loss
        return hidden and not self.word.is_loss


def conclude(pairs: Iterable[Pair], *, level: float = LEVEL) -> Conclusion:
    """Conclude from the outcomes of two sides.

    A conclusion stands only if it stands with all that is missing on either side counted against
    it. Tests that neither side has scored are left out.

    Args:
        pairs: One of each test that both sides have.
        level: Two-sided: a change on the whole has this level, a lost issue half of it.
    """
    found = [pair for pair in pairs if pair.old.share is not None or pair.new.share is not None]
    scored = [pair for pair in found if pair.old.share is not None and pair.new.share is not None]
    reading = _read(scored, [_share(pair.new) - _share(pair.old) for pair in scored], level)
    if all(pair.is_whole for pair in found):
        return Conclusion(reading.word if reading else Word.NOTHING, reading, reading, reading)
    against_new = _read(found, [pair.new.low - pair.old.high for pair in found], level)
    against_old = _read(found, [pair.new.high - pair.old.low for pair in found], level)
    return Conclusion(
        _word(reading, against_new, against_old),
        reading,
        against_new,
        against_old,
        sum(pair.old.low < pair.old.high for pair in found),
        sum(pair.new.low < pair.new.high for pair in found),
    )


def _share(side: Outcome) -> float:
    return side.share or 0.0


def _read(pairs: Sequence[Pair], changes: Sequence[float], level: float) -> Reading | None:
    issues = [pair.issue for pair in pairs]
    net = net_change(changes, issues, level=level)
    if net is None:
        return None
    lost = lost_issues(changes, issues, level=level)
    return Reading(net, lost, any(changes))


def _word(
    reading: Reading | None, against_new: Reading | None, against_old: Reading | None
) -> Word:
    if reading is None or against_new is None or against_old is None:
        return Word.NOTHING
    if against_new.word == Word.BETTER:
        return Word.BETTER
    if against_old.word == Word.MIXED:
        return Word.MIXED if against_new.is_better else Word.WORSE
    return Word.WORSE if against_old.word == Word.WORSE else Word.CANNOT_TELL
