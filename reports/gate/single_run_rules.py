"""Rules of the gate on the run alone. Pure."""

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from evalhub.display.formatting import between, few, percent, usd
from evalhub.display.formatting import seconds as duration
from evalhub.statistics.interval import Interval
from evalhub.statistics.percentile_interval import percentile, percentile_interval
from evalhub.statistics.student import student_quantile
from issues.severity import or_worse
from reports.gate.rule import GateLine, Verdict, verdict_within
from runs.comparison.completeness import LEAST_IN_WORDS, is_enough
from runs.figures.rate import Rate

MANY = 0.9
"""The percentile of latency that is limited."""


class SevereTest(NamedTuple):
    """A test of an issue of the severity or worse, with its answers.

    Attributes:
        lowest: Answers that pass whatever is missing; `highest` of them may pass.
    """

    name: str
    answers: int
    lowest: int
    highest: int

    @property
    def verdict(self) -> Verdict:
        """It fails where at most half of its answers pass."""
        if 2 * self.lowest > self.answers:
            return Verdict.HOLDS
        is_lost = 2 * self.highest <= self.answers
        return Verdict.DOES_NOT_HOLD if is_lost else Verdict.CANNOT_TELL


def severity_rule(tests: Sequence[SevereTest], severity: str) -> GateLine:
    """No test of a severe issue may fail; where judgments are missing, it may be one that fails.

    Where there is none, nothing was checked, and the rule cannot tell.
    """
    which = f"tests of issues of severity {or_worse(severity)}"
    failed, doubtful = (
        [test.name for test in tests if test.verdict == verdict]
        for verdict in (Verdict.DOES_NOT_HOLD, Verdict.CANNOT_TELL)
    )
    verdict, sentence = Verdict.HOLDS, f"None of {len(tests):,} {which} fails."
    if failed:
        verdict = Verdict.DOES_NOT_HOLD
        sentence = f"{len(failed):,} of {len(tests):,} {which} fail: {few(failed)}."
    elif not tests:
        verdict, sentence = Verdict.CANNOT_TELL, f"The run has no {which}: nothing is checked."
    elif doubtful:
        verdict = Verdict.CANNOT_TELL
        sentence = (
            f"{len(doubtful):,} of {len(tests):,} {which} may fail, as judgments or answers are "
            f"missing: {few(doubtful)}. Retry or evaluate them."
        )
    return GateLine(
        rule="failing_severity",
        verdict=verdict,
        sentence=sentence,
        n=len(tests),
        value=len(failed),
        limit=0,
        unit="tests",
        method="count of tests; a test fails if at most half of its answers pass",
    )


NEVER_ALL = " No number of tests shows 100%: lower the limit."


class PassRate(NamedTuple):
    """The pass rate of a run, and with each missing judgment and answer at its lowest, highest."""

    measured: Rate
    lowest: Rate
    highest: Rate

    @property
    def interval(self) -> Interval | None:
        """The interval, with what is missing counted either way."""
        if self.lowest.interval is None or self.highest.interval is None:
            return None
        return Interval(self.lowest.interval.low, self.highest.interval.high)


def pass_rate_rule(rate: PassRate, limit: float) -> GateLine:
    """The pass rate must surely reach the limit: the lower end of its interval does."""
    found, interval = rate.measured, rate.interval
    verdict, sentence = Verdict.CANNOT_TELL, "No result is scored."
    if found.share is not None:
        sentence = (
            f"{found.passed:,} of {found.n:,} scored results passed: {percent(found.share)}; "
            f"at least {percent(limit)} is required."
        )
        if interval is not None:
            verdict = verdict_within(interval.low, interval.high, limit)
            sentence += f" The rate of tests like these is {between(interval)}."
        if verdict == Verdict.CANNOT_TELL:
            sentence += NEVER_ALL if limit == 1 else " Add tests, or lower the limit."
    return GateLine(
        rule="min_pass_rate",
        verdict=verdict,
        sentence=sentence,
        n=found.n,
        value=found.share,
        limit=limit,
        unit="share",
        interval=interval,
        method=found.method or "count of results",
    )


def latency_rule(latencies_ms: Sequence[int], answers: int, limit_ms: int) -> GateLine:
    """The 90th percentile of latency must not exceed the limit.

    Args:
        latencies_ms: The measured ones.
        answers: Answers of the run, measured or not.
    """
    rising = sorted(latencies_ms)
    is_known = is_enough(len(rising), answers)
    value = percentile(rising, MANY) if is_known else None
    interval = percentile_interval(rising, MANY) if is_known else None
    verdict, sentence = Verdict.CANNOT_TELL, _unmeasured("Latency", len(rising), answers)
    if value is not None:
        verdict = verdict_within(-value, -value, -limit_ms)
        bounds = f" (95% {_ms(interval.low)} to {_ms(interval.high)})" if interval else ""
        sentence = (
            f"90% of {len(rising):,} answers took {_ms(value)} or less{bounds}; "
            f"allowed are {_ms(limit_ms)}."
        )
    return GateLine(
        rule="max_p90_latency_ms",
        verdict=verdict,
        sentence=sentence,
        n=len(rising),
        value=value,
        limit=limit_ms,
        unit="ms",
        interval=interval,
        method="90th percentile, order statistics",
    )


def cost_rule(costs_usd: Sequence[float], answers: int, limit_usd: float) -> GateLine:
    """The mean cost of an answer must not exceed the limit; arguments as in `latency_rule`."""
    is_known = is_enough(len(costs_usd), answers)
    value = fmean(costs_usd) if is_known else None
    interval = _mean_interval(costs_usd) if is_known else None
    verdict, sentence = Verdict.CANNOT_TELL, _unmeasured("Cost", len(costs_usd), answers)
    if value is not None:
        verdict = verdict_within(-value, -value, -limit_usd)
        bounds = f" (95% {usd(interval.low)} to {usd(interval.high)})" if interval else ""
        sentence = (
            f"{len(costs_usd):,} answers cost {usd(value)} on average{bounds}; "
            f"allowed are {usd(limit_usd)}."
        )
    return GateLine(
        rule="max_mean_cost_usd",
        verdict=verdict,
        sentence=sentence,
        n=len(costs_usd),
        value=value,
        limit=limit_usd,
        unit="usd",
        interval=interval,
        method="mean, Student's t by answer",
    )


def _mean_interval(values: Sequence[float]) -> Interval | None:
    n = len(values)
    spread = stdev(values) if n > 1 else 0.0
    if not spread:
        return None
    half = student_quantile(0.95, n - 1) * spread / sqrt(n)
    return Interval(max(0.0, fmean(values) - half), fmean(values) + half)


def _unmeasured(name: str, n: int, answers: int) -> str:
    return f"{name} is known of {n:,} of {answers:,} answers; {LEAST_IN_WORDS} are needed."


def _ms(value: float) -> str:
    return duration(round(value))
