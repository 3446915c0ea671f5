"""Plain-language conclusions from the figures of a judge tuning."""

from collections.abc import Iterator

from evalhub.display.formatting import DASH, counted, score
from evalhub.statistics.interval import Interval
from evalhub.statistics.judges.judge_intervals import KAPPA_METHOD, MIN_ISSUES_OF_KAPPA
from runs.laboratory.tuning.figures import MeasuredAttempt, TuningFigures
from runs.laboratory.tuning.metrics import FEW, Conclusion, MetricDifference, Metrics
from runs.laboratory.tuning.models import Split

FEW_ISSUES = f"fewer than {MIN_ISSUES_OF_KAPPA} issues"
ORDINALS = ("", "first", "second", "third", "fourth", "fifth")


def estimate(value: float | None, interval: Interval | None) -> str:
    """Format a figure with its interval: 0.62 (0.41 to 0.8)."""
    if value is None or interval is None:
        return score(value)
    return f"{score(value)} ({score(interval.low)} to {score(interval.high)})"


def signed(value: float) -> str:
    """Format a difference with its sign."""
    return f"{'−' if value < 0 else '+'}{score(abs(value))}"


def ordinal(n: int) -> str:
    return ORDINALS[n] if n < len(ORDINALS) else f"{n}th"


def difference(against: MetricDifference | None) -> str:
    """Describe a draft's change in kappa on one split."""
    if against is None or against.difference.value is None:
        return DASH
    value = against.difference.value
    interval, answers = against.difference.interval, counted(against.n, "answer")
    if interval is None:
        few = f": {FEW_ISSUES}" if against.issues < MIN_ISSUES_OF_KAPPA else ""
        return f"kappa {signed(value)} over {answers}, not tested{few}"
    between = f"{signed(interval.low)} to {signed(interval.high)}"
    return f"kappa {signed(value)} over {answers} (95% {between}, {KAPPA_METHOD})"


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
    return (
        f"No conclusion on the held-out split: the {counted(against.n, 'answer')} judged by both "
        f"versions are too few, too uniform, or from {FEW_ISSUES}."
    )


def warnings_of(judged: MeasuredAttempt) -> Iterator[str]:
    """Yield reasons to doubt an attempt."""
    if judged.is_overfitted:
        yield (
            "Overfitted: significantly better on the development split "
            f"({difference(judged.against[Split.DEVELOPMENT])}), not on the held-out split "
            f"({difference(judged.against[Split.HELD_OUT])}). The draft may only fit these "
            "examples."
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
    text = estimate(measured.kappa, measured.intervals.kappa)
    return f"{text}, no interval: {FEW_ISSUES}" if measured.why_no_interval else text
