"""The gate's decision from the lines of its rules. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from evalhub.statistics.interval import Interval
from reports.compare.rule import DIGITS
from reports.gate.exit_codes import ExitCode


class Verdict(StrEnum):
    HOLDS = "holds"
    DOES_NOT_HOLD = "does_not_hold"
    CANNOT_TELL = "cannot_tell"

    @property
    def label(self) -> str:
        return self.value.replace("_", " ")


def verdict_within(low: float, high: float, least: float) -> Verdict:
    """Return whether a value between these bounds is at least so much, rounded as everywhere."""
    if round(low - least, DIGITS) >= 0:
        return Verdict.HOLDS
    return Verdict.DOES_NOT_HOLD if round(high - least, DIGITS) < 0 else Verdict.CANNOT_TELL


TITLES = {
    "done": "Run is done",
    "scored": "Scored results",
    "baseline_scored": "Scored results of the baseline",
    "comparable": "Comparable with the baseline",
    "conclusion": "Not worse than the baseline",
    "against_reference": "Not worse than the reference",
    "blind_spot_points": "A large loss would have shown",
    "max_worsening_points": "Worsening within the allowance",
    "edited_tests": "No edited test fails now",
    "max_net_loss_points": "Net loss within the limit",
    "failing_severity": "No failing test of this severity",
    "min_pass_rate": "Pass rate reaches the limit",
    "max_p90_latency_ms": "Latency within the limit",
    "max_mean_cost_usd": "Cost within the limit",
}
CONDITIONS = ("done", "scored", "baseline_scored", "comparable")
"""Rules that have to hold before any other one is decided."""


@dataclass(frozen=True)
class Remedy:
    """The request that makes a decision possible, and the page that asks before it does the same.

    Attributes:
        text: What to do, as an imperative sentence.
        path: Of the API, to POST `body` to; "" if no request helps.
        page: Path of the page; "" if there is none.
    """

    text: str
    path: str = ""
    body: tuple[tuple[str, int | bool], ...] = ()
    page: str = ""


@dataclass(frozen=True)
class GateLine:
    """The verdict of one rule, with all its figures.

    Attributes:
        rule: Its name for programs: a key of `TITLES`.
        n: Results or tests that the verdict rests on.
        value: The measured value, in `unit`, as is `limit` and `interval`; None: not measured.
        p: Two-sided, of the change on the whole; of a conclusion, `value` is the p that decided,
            which may be that of lost issues. None where the rule tests nothing.
        method: Of the interval or of p; how it was counted where there is neither.
    """

    rule: str
    verdict: Verdict
    sentence: str
    n: int = 0
    value: float | None = None
    limit: float | None = None
    unit: str = ""
    interval: Interval | None = None
    p: float | None = None
    method: str = ""
    remedy: Remedy | None = None

    @property
    def title(self) -> str:
        return TITLES[self.rule]

    @property
    def is_condition(self) -> bool:
        return self.rule in CONDITIONS


def skipped(rule: str) -> GateLine:
    """Return the line of a rule that is not evaluated, for a condition is not met."""
    return GateLine(rule, Verdict.CANNOT_TELL, "Not evaluated: see the conditions above.")


@dataclass(frozen=True)
class GateDecision:
    """The gate's exit code and its reason."""

    code: ExitCode
    reason: str


def decide(lines: Sequence[GateLine]) -> GateDecision:
    """Return the first decision that applies.

    Cannot tell, if a condition is not met (too little is scored, or the runs are not comparable);
    does not hold, if a rule does not; cannot tell, if that is unknown of a rule; else holds.
    """
    cases = (
        (ExitCode.CANNOT_TELL, [line for line in lines if line.is_condition and not _holds(line)]),
        (
            ExitCode.DOES_NOT_HOLD,
            [line for line in lines if line.verdict == Verdict.DOES_NOT_HOLD],
        ),
        (ExitCode.CANNOT_TELL, [line for line in lines if not _holds(line)]),
    )
    for code, found in cases:
        if found:
            return GateDecision(code, " ".join(line.sentence for line in found))
    rules = [line for line in lines if not line.is_condition]
    said = [f"All rules hold ({len(rules)})."]
    said += [line.sentence for line in rules if line.rule == "conclusion"] or [
        line.sentence for line in rules[:1]
    ]
    return GateDecision(ExitCode.HOLDS, " ".join(said))


def _holds(line: GateLine) -> bool:
    return line.verdict == Verdict.HOLDS
