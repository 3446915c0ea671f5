"""Rules of the gate on the change from the baseline. Pure."""

from dataclasses import dataclass

from evalhub.statistics.changes.change_test import is_significant
from evalhub.statistics.interval import Interval
from reports.compare.rule import DIGITS, Tally
from reports.gate.rule import GateLine, Verdict

NOTHING = "No test is scored in both runs: nothing can be compared."


@dataclass(frozen=True)
class Change:
    """The change of the tests that both runs scored.

    Attributes:
        net: Their mean change, in [-1, 1]; None where there are none.
        interval: Of `net`, 95 %, by `interval_method`; None: unknown.
        p: Two-sided, by `test`; None where nothing was compared.
        caveat: What p does not account for, as a sentence; "" where there is nothing.
        units: Tests, or issues where whole issues are flipped, that could have changed.
        detectable: The least net change that the test detects, in a sentence.
    """

    tally: Tally
    net: float | None
    interval: Interval | None
    interval_method: str
    p: float | None
    test: str
    caveat: str
    units: int
    detectable: str

    @property
    def least_p(self) -> float:
        """The p of these tests, had all of them got worse."""
        return min(1.0, 2.0 ** (1 - self.units))


def regression_rule(change: Change, alpha: float) -> GateLine:
    """The run must not be significantly worse than the baseline.

    If tests got worse on balance and are too few for any significance, that is unknown.
    """
    tally, net, p = change.tally, change.net, change.p
    verdict, sentence = Verdict.CANNOT_TELL, NOTHING
    if net is not None and p is not None:
        is_worse = round(net, DIGITS) < 0
        caveat = f" {change.caveat}" if change.caveat else ""
        figures = (
            f"{tally.worse:,} worse, {tally.better:,} better of {tally.n:,} matched tests "
            f"(p = {p:.2g}, {change.test})"
        )
        if is_worse and is_significant(p, alpha):
            verdict, sentence = Verdict.DOES_NOT_HOLD, f"Significantly worse: {figures}.{caveat}"
        elif is_worse and change.least_p > alpha:
            sentence = (
                f"{figures}: too few to reach p ≤ {alpha:g}, even if all got worse. "
                "Add tests, or limit the net loss."
            )
        else:
            verdict = Verdict.HOLDS
            sentence = f"No significant regression: {figures}.{caveat} {change.detectable}".rstrip()
    return GateLine(
        rule="significant_regression",
        verdict=verdict,
        sentence=sentence,
        n=tally.n,
        value=p,
        limit=alpha,
        unit="p",
        p=p,
        method=change.test,
    )


def net_loss_rule(change: Change, limit: float) -> GateLine:
    """The run must not lose more than these percentage points, significant or not."""
    verdict, sentence, net = Verdict.CANNOT_TELL, NOTHING, change.net
    if net is not None:
        is_met = round(-100 * net - limit, DIGITS) <= 0
        verdict = Verdict.HOLDS if is_met else Verdict.DOES_NOT_HOLD
        direction = "loss" if net < 0 else "gain"
        sentence = (
            f"Net {direction} of {number(abs(100 * net))} points over {change.tally.n:,} matched "
            f"tests{_between(change)}; allowed is a loss of {limit:g} points."
        )
    return GateLine(
        rule="max_net_loss_points",
        verdict=verdict,
        sentence=sentence,
        n=change.tally.n,
        value=None if net is None else -100 * net,
        limit=limit,
        unit="points",
        interval=_loss(change.interval),
        p=change.p,
        method=change.interval_method if change.interval else change.test,
    )


def _between(change: Change) -> str:
    loss = _loss(change.interval)
    if loss is None:
        return "" if change.p is None else f" (p = {change.p:.2g}, {change.test})"
    return f" (95% {number(loss.low)} to {number(loss.high)} lost, {change.interval_method})"


def _loss(interval: Interval | None) -> Interval | None:
    """Return the interval of a change as percentage points lost."""
    return None if interval is None else Interval(-100 * interval.high, -100 * interval.low)


def number(points: float) -> str:
    """Format percentage points."""
    return f"{points:z.1f}".removesuffix(".0").replace("-", "−")
