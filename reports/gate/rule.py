"""Whether a run may pass: a rule over its comparison with another, and its exit codes. Pure."""

from dataclasses import dataclass
from enum import IntEnum

from evalhub.formatting import percent
from evalhub.statistics.detectable import ALPHA
from reports.compare.rule import DIGITS, Tally

MAX_MISSING = 0.05


class Code(IntEnum):
    """What the gate's command exits with."""

    PASSES = 0
    REGRESSED = 1
    CANNOT_TELL = 2


@dataclass(frozen=True)
class Limits:
    """Where the gate closes.

    Attributes:
        alpha: Of the two-sided p of a net change for the worse, in [0, 1].
        max_worse: How many tests may be worse, sure or not; None: any number.
        max_missing: The share of tests that may be missing, in [0, 1].
    """

    alpha: float = ALPHA
    max_worse: int | None = None
    max_missing: float = MAX_MISSING

    def in_words(self) -> str:
        """The rule, whole."""
        worse = "" if self.max_worse is None else f", or more than {self.max_worse:,} are worse"
        return (
            f"It exits {Code.CANNOT_TELL} when nothing matches, or when tests that ended in an "
            "error, are unjudged, pending or without a match exceed "
            f"{percent(self.max_missing)} of the tests of either run; {Code.REGRESSED} when tests "
            f"got worse on balance with p <= {self.alpha:g}{worse}; else {Code.PASSES}. The p is "
            "that of exact McNemar on the tests that flipped; with repeats, of tests whose signs "
            "are flipped at random; where an issue has several matched tests, of whole issues."
        )


@dataclass(frozen=True)
class GateInput:
    """What the rule looks at.

    Attributes:
        matched: Tests that are in both runs as they are, decided or not.
        missing: As `comparing.missing_share`; None where there is no test at all.
        net: The net change of the compared tests; None where there are none.
        p: Of that; None where nothing was compared.
    """

    tally: Tally
    matched: int
    missing: float | None
    net: float | None
    p: float | None


@dataclass(frozen=True)
class GateDecision:
    """What the gate says, and why."""

    code: Code
    reason: str


def rule(found: GateInput, limits: Limits) -> GateDecision:
    """The first that holds: it cannot tell; the run regressed; it passes."""
    return _cannot_tell(found, limits) or _regressed(found, limits) or _passes(found)


def _cannot_tell(found: GateInput, limits: Limits) -> GateDecision | None:
    if not found.matched or found.missing is None:
        return GateDecision(
            Code.CANNOT_TELL, "No test is in both runs as it is: nothing to compare."
        )
    if round(found.missing - limits.max_missing, DIGITS) > 0:
        reason = (
            f"{percent(found.missing)} of the tests are missing, and {percent(limits.max_missing)} "
            "may be: retry errors, judge again, or compare runs of the same tests."
        )
        return GateDecision(Code.CANNOT_TELL, reason)
    return None


def _regressed(found: GateInput, limits: Limits) -> GateDecision | None:
    worse = found.tally.worse
    if limits.max_worse is not None and worse > limits.max_worse:
        return GateDecision(
            Code.REGRESSED, f"{worse:,} tests are worse, and {limits.max_worse:,} may be."
        )
    if found.net is None or found.p is None:
        return None
    if round(found.net, DIGITS) < 0 and found.p <= limits.alpha:
        reason = f"Tests are worse on balance, and hardly by chance: p = {found.p:.3g}."
        return GateDecision(Code.REGRESSED, reason)
    return None


def _passes(found: GateInput) -> GateDecision:
    if found.p is None:
        return GateDecision(
            Code.PASSES, "No test was decided in both runs, and so many may be missing."
        )
    return GateDecision(Code.PASSES, "Not enough evidence that it got worse.")
