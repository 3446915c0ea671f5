"""When a judge or a jury cannot be trusted: the one rule that every page asks. Pure.

A judge is *unreliable* if any of these holds:

- at least 10 % of its judgments failed, and at least 3, however often its peers fail;
- it tells good answers from bad no better than chance, judged by humans;
- its kappa with humans is significantly below 0.667;
- it agrees with no other judge while two others agree with each other;
- it judged its own answers.

It needs *caution* if its kappa with humans is below 0.667 or its accuracy is not shown to be 90 %,
though either may be chance, or if it is scripted. It is *reliable*, and may decide alone, if there
is no concern and its accuracy is at least 90 % at the lower end of the 95 % interval.

Figures of humans count from 20 answers on that were drawn at random and judged blind. What was not
measured speaks neither for a judge nor against it. Concerns are not added up to a grade.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from evalhub.formatting import percent, score
from evalhub.statistics.alpha_bands import RELIABLE, TENTATIVE, Band
from evalhub.statistics.interval import Interval
from evalhub.statistics.wilson import wilson_interval

MAX_FAILED, MIN_FAILED = 0.1, 3
"""A judge is unreliable from this share of failed judgments on, if there are at least 3."""

MIN_COMPARED = 0.8
"""A jury is unreliable if fewer than this share of the expected judge pairs could be compared."""

MIN_KAPPA, MIN_ACCURACY = TENTATIVE, 0.9
"""Agreement with humans that a judge must reach."""

MIN_CHECKED = 20
"""Answers drawn at random that figures of humans need."""

MIN_OF_EACH = 5
"""Answers of either outcome needed to tell a judge from chance."""


class Trust(StrEnum):
    RELIABLE = "reliable"
    NO_CONCERNS = "no concerns found"
    CAUTION = "use with caution"
    UNRELIABLE = "unreliable"
    UNKNOWN = "not known yet"


@dataclass(frozen=True)
class Concern:
    """A reason to doubt a judge or jury; without `is_serious` it only calls for caution."""

    text: str
    is_serious: bool = True


@dataclass(frozen=True)
class JudgeRecord:
    """Measurements of one judge.

    Attributes:
        asked: Judgments requested; `failed` of them gave no verdict.
        own_answers: Judge runs in which it judged its own answers.
        checked: Answers drawn at random that humans judged blind; it is right on `right` of them.
        accuracy: Interval of its accuracy, resampled by issue; None where unknown.
        kappa: Cohen's, with humans, on these answers; None: not measured, not defined, or one
            human verdict is so rare that kappa says little.
        kappa_interval: None where the spread is unknown.
        informative: Whether sensitivity + specificity > 1; None: not measured.
        rarer: Answers of the outcome that humans gave more rarely.
        peers: Its highest kappa with another judge, and the highest between two others.
    """

    asked: int = 0
    failed: int = 0
    own_answers: int = 0
    is_scripted: bool = False
    checked: int = 0
    right: int | None = None
    accuracy: Interval | None = None
    kappa: float | None = None
    kappa_interval: Interval | None = None
    informative: bool | None = None
    rarer: int = 0
    peers: tuple[float, float] | None = None

    @property
    def is_accurate(self) -> bool | None:
        return None if self.right is None else is_accurate(self.right, self.checked, self.accuracy)


@dataclass(frozen=True)
class JuryRecord:
    """Agreement of a jury in one judge run; `made` of `expected` judge pairs were compared."""

    alpha: float | None
    band: Band
    units: int
    interval: Interval | None
    made: int
    expected: int


def trust_in(
    concerns: Iterable[Concern], *, is_known: bool = True, is_accurate: bool | None = None
) -> Trust:
    """Return how far to trust a judge or jury.

    Args:
        is_known: Anything was measured from which concerns could follow.
        is_accurate: The judge is shown to be right often enough to decide alone.
    """
    serious = [concern.is_serious for concern in concerns]
    if serious:
        return Trust.UNRELIABLE if any(serious) else Trust.CAUTION
    if is_accurate:
        return Trust.RELIABLE
    return Trust.NO_CONCERNS if is_known else Trust.UNKNOWN


def concerns_about(judge: JudgeRecord) -> tuple[Concern, ...]:
    """Return the concerns about a judge, the most severe first."""
    found = [*_failures(judge), *_against_humans(judge), *_against_peers(judge), *_origin(judge)]
    return tuple(sorted(found, key=lambda concern: not concern.is_serious))


def concerns_about_jury(jury: JuryRecord) -> tuple[Concern, ...]:
    """Return the concerns about a jury: low agreement, or too few judge pairs compared."""
    found = []
    bounds = jury.interval
    between = f" ({score(bounds.low)} to {score(bounds.high)})" if bounds else ""
    alpha = f"alpha {score(jury.alpha)}{between} over {jury.units:,} criteria"
    if jury.band == Band.UNRELIABLE:
        found.append(
            Concern(f"Its judges disagree too often: {alpha}, significantly below {TENTATIVE}.")
        )
    if jury.band == Band.TENTATIVE:
        text = f"Its judges agree only tentatively: {alpha}, significantly below {RELIABLE}."
        found.append(Concern(text, is_serious=False))
    if jury.expected and jury.made < MIN_COMPARED * jury.expected:
        text = f"Only {jury.made:,} of {jury.expected:,} expected judge pairs could be compared."
        found.append(Concern(text))
    return tuple(found)


def fails_often(asked: int, failed: int) -> bool:
    return failed >= MIN_FAILED and failed >= MAX_FAILED * asked


def accuracy_low(right: int, n: int, resampled: Interval | None = None) -> float | None:
    """Return the lower 95 % bound of an accuracy: Wilson's or the one by issue, if lower."""
    wilson = wilson_interval(right, n)
    if wilson is None:
        return None
    return min(wilson.low, resampled.low) if resampled else wilson.low


def is_accurate(right: int, n: int, resampled: Interval | None = None) -> bool | None:
    """Return whether an accuracy is shown to be high enough; None on too few answers."""
    low = accuracy_low(right, n, resampled)
    if low is None or n < MIN_CHECKED:
        return None
    return round(low, 9) >= MIN_ACCURACY


def _failures(judge: JudgeRecord) -> Iterator[Concern]:
    if fails_often(judge.asked, judge.failed):
        share = percent(judge.failed / judge.asked)
        yield Concern(f"{judge.failed:,} of {judge.asked:,} judgments failed ({share}).")


def _against_humans(judge: JudgeRecord) -> Iterator[Concern]:
    if judge.checked < MIN_CHECKED:
        return
    drawn = f"{judge.checked:,} answers drawn at random"
    if judge.informative is False and judge.rarer >= MIN_OF_EACH:
        yield Concern(f"It does no better than chance against humans on {drawn}.")
        return
    if judge.kappa is not None and round(judge.kappa, 9) < MIN_KAPPA:
        interval = judge.kappa_interval
        bounds = f" ({score(interval.low)} to {score(interval.high)})" if interval else ""
        measured = f"kappa {score(judge.kappa)}{bounds} on {drawn}"
        if interval and round(interval.high, 9) < MIN_KAPPA:
            yield Concern(
                f"It agrees too little with humans: {measured}, significantly below {MIN_KAPPA}."
            )
        else:
            yield Concern(
                f"Its agreement with humans is unproven: {measured}, below {MIN_KAPPA}, which may "
                "be chance.",
                is_serious=False,
            )
    if judge.is_accurate is False:
        low = accuracy_low(judge.right or 0, judge.checked, judge.accuracy)
        yield Concern(
            f"It cannot decide alone: right on {judge.right:,} of {drawn}, which shows an accuracy "
            f"of only {percent(low)}, below {percent(MIN_ACCURACY)}.",
            is_serious=False,
        )


def _against_peers(judge: JudgeRecord) -> Iterator[Concern]:
    """Name a judge that agrees with no peer while two peers agree with each other."""
    if judge.peers is None:
        return
    best, others = judge.peers
    if round(best, 9) < TENTATIVE <= round(others, 9):
        yield Concern(
            f"It disagrees with all others: kappa {score(best)} at most, while two others reach "
            f"{score(others)}."
        )


def _origin(judge: JudgeRecord) -> Iterator[Concern]:
    if judge.own_answers:
        times = "judge run" if judge.own_answers == 1 else "judge runs"
        yield Concern(f"It judged its own answers in {judge.own_answers:,} {times}.")
    if judge.is_scripted:
        yield Concern("It is scripted: its verdicts are made up.", is_serious=False)
