"""The gate: a rule over the comparison of two runs. Pure."""

from dataclasses import dataclass

from evalhub.formatting import percent
from evalhub.statistics.change_test import ALPHA, METHOD
from reports.compare.rule import DIGITS, Tally
from reports.gate.exit_codes import ExitCode

MAX_MISSING = 0.05


@dataclass(frozen=True)
class Limits:
    """The thresholds of the gate.

    Attributes:
        alpha: Significance level of the two-sided p of a net loss, in [0, 1].
        max_worse: Most tests that may be worse, significant or not; None: any number.
        max_missing: Largest share of missing tests, in [0, 1].
    """

    alpha: float = ALPHA
    max_worse: int | None = None
    max_missing: float = MAX_MISSING

    def in_words(self) -> str:
        """Return the whole rule in words."""
        worse = "" if self.max_worse is None else f", or more than {self.max_worse:,} are worse"
        return (
            f"Exit {ExitCode.CANNOT_TELL} if no tests match, or if errors and unscored, pending "
            f"and unmatched tests exceed {percent(self.max_missing)} of the tests of either run; "
            f"exit {ExitCode.REGRESSED} if tests got worse on balance with p <= {self.alpha:g}"
            f"{worse}; else exit {ExitCode.PASSES}. p: {METHOD}"
        )


@dataclass(frozen=True)
class GateInput:
    """The inputs of the rule.

    Attributes:
        matched: Tests that are unchanged in both runs, scored or not.
        missing: As `reports.compare.rule.missing_share`; None without tests.
        net: The net change of the compared tests; None where there are none.
        p: Its p; None where nothing was compared.
    """

    tally: Tally
    matched: int
    missing: float | None
    net: float | None
    p: float | None


@dataclass(frozen=True)
class GateDecision:
    """The gate's exit code and its reason."""

    code: ExitCode
    reason: str


def rule(found: GateInput, limits: Limits) -> GateDecision:
    """Return the first decision that applies: cannot tell, regressed, passes."""
    worse = found.tally.worse
    if not found.matched or found.missing is None:
        reason = "The runs share no unchanged test: nothing to compare."
        return GateDecision(ExitCode.CANNOT_TELL, reason)
    if round(found.missing - limits.max_missing, DIGITS) > 0:
        reason = (
            f"{percent(found.missing)} of the tests are missing (limit "
            f"{percent(limits.max_missing)}): retry errors, re-judge, or compare runs of the same "
            "tests."
        )
        return GateDecision(ExitCode.CANNOT_TELL, reason)
    if limits.max_worse is not None and worse > limits.max_worse:
        reason = f"{worse:,} tests got worse (limit {limits.max_worse:,})."
        return GateDecision(ExitCode.REGRESSED, reason)
    if found.p is None:
        reason = "No test was scored in both runs, within the limit of missing tests."
        return GateDecision(ExitCode.PASSES, reason)
    if found.net is not None and round(found.net, DIGITS) < 0 and found.p <= limits.alpha:
        reason = f"Tests got significantly worse on balance (p = {found.p:.3g})."
        return GateDecision(ExitCode.REGRESSED, reason)
    return GateDecision(ExitCode.PASSES, "No significant regression.")
