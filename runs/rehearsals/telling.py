"""What the figures of a rehearsal mean, in plain words."""

from collections.abc import Iterator

from evalhub.statistics.interval import Interval
from evalhub.wording import DASH, score
from runs.rehearsals.measuring import FEW, Compared, Measured, Verdict
from runs.rehearsals.models import Half
from runs.rehearsals.outcome import Judged, Outcome

MANY_LOOKS = 3
ORDINALS = ("", "first", "second", "third", "fourth", "fifth")


def estimate(value: float | None, interval: Interval | None) -> str:
    """A figure with its interval: 0.62 (0.41 to 0.8)."""
    if value is None or interval is None:
        return score(value)
    return f"{score(value)} ({score(interval.low)} to {score(interval.high)})"


def ordinal(n: int) -> str:
    return ORDINALS[n] if n < len(ORDINALS) else f"{n}th"


def difference(against: Compared | None) -> str:
    """What a draft's difference of kappa on one half says."""
    if against is None or against.difference.value is None:
        return DASH
    value = against.difference.value
    told = f"kappa {score(abs(value))} {'higher' if value >= 0 else 'lower'}"
    interval = against.difference.interval
    if interval is None:
        return f"{told}; nothing is known of its certainty"
    return f"{told} ({score(interval.low)} to {score(interval.high)})"


def conclusion(judged: Judged) -> str:
    """What a try proves, on the half that it was not written by."""
    against = judged.against[Half.HELD_OUT]
    told = difference(against)
    match against.verdict:
        case Verdict.BETTER:
            return f"Better on the held-out half: certain. {told.capitalize()}."
        case Verdict.WORSE:
            return f"Worse on the held-out half: certain. {told.capitalize()}."
        case Verdict.UNCERTAIN:
            is_up = (against.difference.value or 0) >= 0
            way = "Better" if is_up else "Worse"
            return (
                f"{way} on the held-out half: not certain, it may be chance. {told.capitalize()}."
            )
    n = against.n
    return (
        f"Nothing can be said of the held-out half: {n} answer{'s' if n != 1 else ''} that both "
        "gave a verdict on are too few, too alike, or of one issue only."
    )


def warnings_of(judged: Judged) -> Iterator[str]:
    """What must be known before a try is believed."""
    if judged.is_overfitted:
        yield (
            "It does better on the seen half and no better on the held-out half: it has learnt "
            "these examples by heart, and not what they are examples of."
        )
    if judged.look >= MANY_LOOKS:
        yield (
            f"This was the {ordinal(judged.look)} look at the held-out half of this template: the "
            "more often one looks, the less it proves. Have people judge other answers."
        )
    failed = sum(half.failed for half in judged.halves.values())
    if failed:
        were = "answers have" if failed != 1 else "answer has"
        yield f"{failed} {were} no verdict, as the judge failed; they are in no figure."


def warnings(outcome: Outcome) -> Iterator[str]:
    """What must be known of all figures of a rehearsal."""
    if outcome.is_small:
        seen, held_out = outcome.sizes[Half.SEEN], outcome.sizes[Half.HELD_OUT]
        yield (
            f"There are {seen} answers in the seen half and {held_out} in the held-out half. With "
            f"fewer than {FEW} a kappa is hardly known: have people judge more of them."
        )
    if disputed := outcome.left_out.get("disputed"):
        are = "answers are" if disputed != 1 else "answer is"
        yield f"{disputed} {are} left out, as people differ on them and nobody has settled it."
    if outcome.taught:
        are = "answers are" if outcome.taught != 1 else "answer is"
        yield (
            f"{outcome.taught} {are} in no figure of the version in use, whose examples come from "
            "the same tests."
        )


def kappa_of(measured: Measured) -> str:
    return estimate(measured.kappa, measured.intervals.kappa)
