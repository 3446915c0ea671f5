"""Whether a judge's verdicts can be relied on, and if not, why: one rule, in words. Pure.

Each reason stands for itself: nothing is added up to a grade. What was not measured is no reason
against a judge, and none for it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from evalhub.formatting import percent, score
from evalhub.statistics.krippendorff import RELIABLE, TENTATIVE, Band

MOST_FAILED, FEWEST_FAILED = 0.1, 3
"""A judge is doubted when more than this share of its verdicts failed, and at least so many."""

LEAST_COMPARED = 0.8
"""And a panel when fewer than this share of the comparisons between judges could be made."""

LEAST_KAPPA, FEWEST_CHECKED = TENTATIVE, 20
"""And a judge that surely agrees less with people, on at least so many answers drawn at random."""

FEWEST_OF_EACH = 5
"""Whether a judge tells good from bad is known from at least so many answers of either kind."""


class Trust(StrEnum):
    DOUBTED = "not to be trusted"
    CAREFUL = "with caution"
    NO_DOUBT = "no doubt found"
    UNKNOWN = "too little known"


@dataclass(frozen=True)
class Reason:
    """Why something is doubted, in words; `is_grave` or only a reason for caution."""

    text: str
    is_grave: bool = True


@dataclass(frozen=True)
class Record:
    """What is known of one judge over some judgings.

    Attributes:
        asked: Verdicts that it was asked for; `failed` of them could not be had.
        own_answers: In how many judgings it judged answers of its own.
        kappa: Cohen's, with people, on `checked` answers drawn at random and judged blind; None:
            not measured, not defined, or one verdict of people is so rare that it says little.
        kappa_bounds: Of its interval; None where nothing is known of the spread.
        informative: Whether it tells good answers from bad ones at all (se + sp > 1); None: not
            measured.
        rarer: How often people gave the rarer of the two verdicts on these answers.
        peers: Its highest kappa with any other judge, and the highest between two others.
    """

    asked: int
    failed: int
    own_answers: int = 0
    is_scripted: bool = False
    kappa: float | None = None
    kappa_bounds: tuple[float, float] | None = None
    checked: int = 0
    informative: bool | None = None
    rarer: int = 0
    peers: tuple[float, float] | None = None


@dataclass(frozen=True)
class JuryRecord:
    """How the judges of one judging agreed. `made` of `expected` comparisons could be made."""

    alpha: float | None
    band: Band
    units: int
    made: int
    expected: int


def concerns_about(judge: Record) -> tuple[Reason, ...]:
    """Why this judge is doubted, the gravest first; empty where there is no reason."""
    found = [*_failing(judge), *_against_people(judge), *_alone(judge), *_standing(judge)]
    return tuple(sorted(found, key=lambda reason: not reason.is_grave))


def concerns_about_jury(panel: JuryRecord) -> tuple[Reason, ...]:
    """Why the verdicts of a panel are doubted: its judges agree too little, or were not heard."""
    found = []
    if panel.band == Band.UNRELIABLE:
        found.append(Reason(f"Its judges agree too little: {_alpha(panel)}, below {TENTATIVE}."))
    if panel.band == Band.TENTATIVE:
        text = f"Its judges agree only so far: {_alpha(panel)}, below {RELIABLE}."
        found.append(Reason(text, is_grave=False))
    if panel.expected and panel.made < LEAST_COMPARED * panel.expected:
        found.append(
            Reason(
                f"Only {panel.made:,} of {panel.expected:,} comparisons between its judges "
                "could be made."
            )
        )
    return tuple(found)


def trust_in(reasons: Iterable[Reason], *, is_known: bool = True) -> Trust:
    """What the reasons come to; `is_known`: there is something from which they could come."""
    grave = [reason.is_grave for reason in reasons]
    if any(grave):
        return Trust.DOUBTED
    if grave:
        return Trust.CAREFUL
    return Trust.NO_DOUBT if is_known else Trust.UNKNOWN


def _failing(judge: Record) -> list[Reason]:
    if judge.failed < FEWEST_FAILED or judge.failed <= MOST_FAILED * judge.asked:
        return []
    share = percent(judge.failed / judge.asked)
    told = f"{judge.failed:,} of {judge.asked:,} verdicts failed ({share})"
    return [Reason(f"{told}; more than {percent(MOST_FAILED)} is too many.")]


def _against_people(judge: Record) -> list[Reason]:
    if judge.checked < FEWEST_CHECKED:
        return []
    drawn = f"on {judge.checked:,} answers drawn at random"
    if judge.informative is False and judge.rarer >= FEWEST_OF_EACH:
        return [Reason(f"Against people it does no better than a coin, {drawn}.")]
    if judge.kappa is None or round(judge.kappa, 9) >= LEAST_KAPPA:
        return []
    low, high = judge.kappa_bounds or (None, None)
    between = f" ({score(low)} to {score(high)})" if high is not None else ""
    told = f"kappa {score(judge.kappa)}{between} {drawn}"
    if high is not None and round(high, 9) < LEAST_KAPPA:
        return [Reason(f"It agrees too little with people: {told}, surely below {LEAST_KAPPA}.")]
    return [
        Reason(
            f"It is not shown to agree with people: {told}, below {LEAST_KAPPA}, though that may "
            "be chance.",
            is_grave=False,
        )
    ]


def _alone(judge: Record) -> list[Reason]:
    """It agrees with no peer, while two of those agree with each other."""
    if judge.peers is None:
        return []
    best, others = judge.peers
    if round(best, 9) >= TENTATIVE or round(others, 9) < TENTATIVE:
        return []
    return [
        Reason(
            f"It stands alone: kappa {score(best)} at most with any other judge, while two "
            f"others reach {score(others)}."
        )
    ]


def _standing(judge: Record) -> list[Reason]:
    found = []
    if judge.own_answers:
        times = "judge run" if judge.own_answers == 1 else "judge runs"
        found.append(Reason(f"It judged its own answers in {judge.own_answers:,} {times}."))
    if judge.is_scripted:
        found.append(Reason("It is scripted: its verdicts are made up.", is_grave=False))
    return found


def _alpha(panel: JuryRecord) -> str:
    return f"alpha {score(panel.alpha)} over {panel.units:,} criteria"
