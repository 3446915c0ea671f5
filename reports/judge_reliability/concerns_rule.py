"""Concerns about a judge or a jury, and how far each can be trusted. Pure.

A judge is *unreliable* if any of these holds:

- at least 10 % of its judgments failed, and at least 3, however often its peers fail;
- its sensitivity or specificity, judged by humans, is significantly below 80 %;
- it agrees with no other judge while two others agree with each other, unless humans have shown
  it to be right;
- it judged its own answers.

It needs *caution* if both were measured on enough answers but are not shown to be 80 %, or if it is
scripted. It is *trusted*, and may decide alone, if there is no concern and both are shown: see
`trust_rule`, the rule for answers that humans evaluated. What was not measured speaks neither for
a judge nor against it. Concerns are not added up to a grade.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from evalhub.display.formatting import counted, percent, score
from evalhub.statistics.agreement.alpha_bands import RELIABLE, TENTATIVE, Band
from evalhub.statistics.interval import Interval
from reports.judge_reliability.trust_rule import HumanProof, Proof

MAX_FAILED, MIN_FAILED = 0.1, 3
"""A judge is unreliable from this share of failed judgments on, if there are at least 3."""

MIN_COMPARED = 0.8
"""A jury is unreliable if fewer than this share of the expected judge pairs could be compared."""


class Trust(StrEnum):
    TRUSTED = "trusted"
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
        humans: What answers with human verdicts show; None: not measured.
        peers: Its highest kappa with another judge, and the highest between two others.
    """

    asked: int = 0
    failed: int = 0
    own_answers: int = 0
    is_scripted: bool = False
    humans: HumanProof | None = None
    peers: tuple[float, float] | None = None

    @property
    def is_shown(self) -> bool:
        return self.humans is not None and self.humans.proof is Proof.SHOWN


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
    concerns: Iterable[Concern], *, is_known: bool = True, is_shown: bool = False
) -> Trust:
    """Return how far to trust a judge or jury.

    Args:
        is_known: Anything was measured from which concerns could follow.
        is_shown: Humans have shown that the judge can be trusted alone.
    """
    serious = [concern.is_serious for concern in concerns]
    if serious:
        return Trust.UNRELIABLE if any(serious) else Trust.CAUTION
    if is_shown:
        return Trust.TRUSTED
    return Trust.NO_CONCERNS if is_known else Trust.UNKNOWN


def trust_of(judge: JudgeRecord) -> Trust:
    """Return how far to trust a judge; unknown without concerns and without enough answers."""
    return trust_in(concerns_about(judge), is_known=False, is_shown=judge.is_shown)


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


def _failures(judge: JudgeRecord) -> Iterator[Concern]:
    if fails_often(judge.asked, judge.failed):
        share = percent(judge.failed / judge.asked)
        yield Concern(f"{judge.failed:,} of {judge.asked:,} judgments failed ({share}).")


def _against_humans(judge: JudgeRecord) -> Iterator[Concern]:
    found = judge.humans
    if found is not None and found.proof is Proof.BELOW:
        yield Concern(f"It errs too often: {found.needed} {found.figures}")
    if found is not None and found.proof is Proof.OPEN:
        yield Concern(f"It cannot decide alone yet: {found.figures}", is_serious=False)


def _against_peers(judge: JudgeRecord) -> Iterator[Concern]:
    """Name a judge that agrees with no peer while two peers agree with each other.

    Humans outrank peers: a judge that they have shown to be right may disagree with others.
    """
    if judge.peers is None or judge.is_shown:
        return
    best, others = judge.peers
    if round(best, 9) < TENTATIVE <= round(others, 9):
        yield Concern(
            f"It disagrees with all others: kappa {score(best)} at most, while two others reach "
            f"{score(others)}."
        )


def _origin(judge: JudgeRecord) -> Iterator[Concern]:
    if judge.own_answers:
        yield Concern(f"It judged its own answers in {counted(judge.own_answers, 'judge run')}.")
    if judge.is_scripted:
        yield Concern("It is scripted: its verdicts are made up.", is_serious=False)
