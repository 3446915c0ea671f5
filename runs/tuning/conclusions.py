"""Plain-language conclusions from the figures of a judge tuning."""

from collections.abc import Iterator

from evalhub.formatting import DASH, score
from evalhub.statistics.interval import Interval
from runs.tuning.figures import MeasuredAttempt, TuningFigures
from runs.tuning.metrics import FEW, Conclusion, MetricDifference, Metrics
from runs.tuning.models import Split

ORDINALS = ("", "first", "second", "third", "fourth", "fifth")


def estimate(value: float | None, interval: Interval | None) -> str:
    """Format a figure with its interval: 0.62 (0.41 to 0.8)."""
    if value is None or interval is None:
        return score(value)
    return f"{score(value)} ({score(interval.low)} to {score(interval.high)})"


def ordinal(n: int) -> str:
    return ORDINALS[n] if n < len(ORDINALS) else f"{n}th"


def difference(against: MetricDifference | None) -> str:
    """Describe a draft's change in kappa on one split."""
    if against is None or against.difference.value is None:
        return DASH
    value = against.difference.value
    text = f"kappa {score(abs(value))} {'higher' if value >= 0 else 'lower'}"
    interval = against.difference.interval
    if interval is None:
        return f"{text}; certainty unknown"
    return f"{text} ({score(interval.low)} to {score(interval.high)})"


def conclusion(judged: MeasuredAttempt) -> str:
    """Conclude what an attempt shows on the held-out split."""
    against = judged.against[Split.HELD_OUT]
    change = difference(against).capitalize()
    match against.conclusion:
        case Conclusion.BETTER:
            return f"Significantly better on the held-out split. {change}."
        case Conclusion.WORSE:
            return f"Significantly worse on the held-out split. {change}."
        case Conclusion.UNCERTAIN:
            return f"No significant difference on the held-out split. {change}."
    n = against.n
    return (
        f"No conclusion on the held-out split: the {n} answer{'s' if n != 1 else ''} judged by "
        "both versions are too few, too uniform, or from a single issue."
    )


def warnings_of(judged: MeasuredAttempt) -> Iterator[str]:
    """Yield reasons to doubt an attempt."""
    if judged.is_overfitted:
        yield (
            "Overfitted: better on the development split, no better on the held-out split. The "
            "draft fits these examples and does not generalise."
        )
    if judged.look >= 3:
        yield (
            f"{ordinal(judged.look).capitalize()} look at this template's held-out split: each "
            "further look proves less. Evaluate new answers to get a fresh split."
        )
    failed = sum(split.failed for split in judged.splits.values())
    if failed:
        have = "answers have" if failed != 1 else "answer has"
        yield f"{failed} {have} no verdict because the judge failed. All figures exclude them."


def warnings(tuning_figures: TuningFigures) -> Iterator[str]:
    """Yield reasons to doubt all figures of a tuning."""
    if tuning_figures.is_small:
        sizes = tuning_figures.sizes
        yield (
            f"Only {sizes[Split.DEVELOPMENT]} answers in the development split and "
            f"{sizes[Split.HELD_OUT]} in the held-out split. Kappa is unreliable below {FEW}: "
            "evaluate more answers."
        )
    if disputed := tuning_figures.left_out.get("disputed"):
        are = "answers are" if disputed != 1 else "answer is"
        yield f"{disputed} disputed {are} excluded until the dispute is resolved."
    if tuning_figures.taught:
        are = "answers are" if tuning_figures.taught != 1 else "answer is"
        yield (
            f"{tuning_figures.taught} {are} excluded for the version in use: its examples come "
            "from the same tests."
        )


def kappa_of(measured: Metrics) -> str:
    return estimate(measured.kappa, measured.intervals.kappa)
