"""What the figures of a rehearsal mean, in plain words."""

from collections.abc import Iterator

from evalhub.formatting import DASH, score
from evalhub.statistics.interval import Interval
from runs.tuning.figures import MeasuredAttempt, TuningFigures
from runs.tuning.metrics import FEW, Conclusion, MetricDifference, Metrics
from runs.tuning.models import Split

MANY_LOOKS = 3
ORDINALS = ("", "first", "second", "third", "fourth", "fifth")


def estimate(value: float | None, interval: Interval | None) -> str:
    """A figure with its interval: 0.62 (0.41 to 0.8)."""
    if value is None or interval is None:
        return score(value)
    return f"{score(value)} ({score(interval.low)} to {score(interval.high)})"


def ordinal(n: int) -> str:
    return ORDINALS[n] if n < len(ORDINALS) else f"{n}th"


def difference(against: MetricDifference | None) -> str:
    """What a draft's difference of kappa on one half says."""
    if against is None or against.difference.value is None:
        return DASH
    value = against.difference.value
    told = f"kappa {score(abs(value))} {'higher' if value >= 0 else 'lower'}"
    interval = against.difference.interval
    if interval is None:
        return f"{told}; nothing is known of its certainty"
    return f"{told} ({score(interval.low)} to {score(interval.high)})"


def conclusion(judged: MeasuredAttempt) -> str:
    """What a try proves, on the half that it was not written by."""
    against = judged.against[Split.HELD_OUT]
    told = difference(against)
    match against.verdict:
        case Conclusion.BETTER:
            return f"Better on the held-out half: certain. {told.capitalize()}."
        case Conclusion.WORSE:
            return f"Worse on the held-out half: certain. {told.capitalize()}."
        case Conclusion.UNCERTAIN:
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


def warnings_of(judged: MeasuredAttempt) -> Iterator[str]:
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
    failed = sum(split.failed for split in judged.splits.values())
    if failed:
        were = "answers have" if failed != 1 else "answer has"
        yield f"{failed} {were} no verdict, as the judge failed; they are in no figure."


def warnings(tuning_figures: TuningFigures) -> Iterator[str]:
    """What must be known of all figures of a rehearsal."""
    if tuning_figures.is_small:
        development, held_out = (
            tuning_figures.sizes[Split.DEVELOPMENT],
            tuning_figures.sizes[Split.HELD_OUT],
        )
        yield (
            f"There are {development} answers in the seen half and {held_out} in the "
            f"held-out half. With "
            f"fewer than {FEW} a kappa is hardly known: have people judge more of them."
        )
    if disputed := tuning_figures.left_out.get("disputed"):
        are = "answers are" if disputed != 1 else "answer is"
        yield f"{disputed} {are} left out, as people differ on them and nobody has settled it."
    if tuning_figures.taught:
        are = "answers are" if tuning_figures.taught != 1 else "answer is"
        yield (
            f"{tuning_figures.taught} {are} in no figure of the version in use, whose "
            f"examples come from "
            "the same tests."
        )


def kappa_of(measured: Metrics) -> str:
    return estimate(measured.kappa, measured.intervals.kappa)
