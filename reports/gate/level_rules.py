"""Rules of the gate on the run alone. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from evalhub.display.formatting import between, few, percent, usd
from evalhub.display.formatting import seconds as duration
from evalhub.statistics.interval import Interval
from evalhub.statistics.percentile_interval import percentile, percentile_interval
from evalhub.statistics.student import student_quantile
from reports.compare.rule import DIGITS
from reports.gate.rule import GateLine, Verdict
from runs.comparison.completeness import LEAST_IN_WORDS, is_enough
from runs.suites.gate_policy import or_worse

MANY = 0.9
"""The percentile of latency that is limited."""


def verdict_of(value: float, limit: float, *, is_least: bool = False) -> Verdict:
    """Compare a measured value with its limit, rounded as differences are everywhere."""
    excess = limit - value if is_least else value - limit
    return Verdict.HOLDS if round(excess, DIGITS) <= 0 else Verdict.DOES_NOT_HOLD


@dataclass(frozen=True)
class SevereTests:
    """The tests of issues of a severity or worse.

    Attributes:
        failed: Names of those that fail: at most half of their scored repeats passed.
        scored: How many have a scored repeat.
        total: All of them.
    """

    failed: tuple[str, ...]
    scored: int
    total: int


def severity_rule(found: SevereTests, severity: str) -> GateLine:
    """No test of a severe issue may fail; one that is not scored may be one that fails.

    Where there is none, nothing was checked, and the rule cannot tell.
    """
    missing = found.total - found.scored
    which = f"tests of issues of severity {or_worse(severity)}"
    if found.failed:
        verdict = Verdict.DOES_NOT_HOLD
        sentence = f"{len(found.failed):,} of {found.scored:,} scored {which} fail: "
        sentence += f"{few(found.failed)}."
    elif not found.total:
        verdict, sentence = Verdict.CANNOT_TELL, f"The run has no {which}: nothing is checked."
    elif missing:
        verdict = Verdict.CANNOT_TELL
        sentence = f"{missing:,} of {found.total:,} {which} are not scored: retry or evaluate them."
    else:
        verdict = Verdict.HOLDS
        sentence = f"None of {found.scored:,} {which} fails."
    return GateLine(
        rule="failing_severity",
        verdict=verdict,
        sentence=sentence,
        n=found.scored,
        value=len(found.failed),
        limit=0,
        unit="tests",
        method="count of tests; a test fails if at most half of its scored repeats passed",
    )


@dataclass(frozen=True)
class PassRate:
    """The pass rate of a run, `share` None where nothing is scored; `method` of the interval."""

    passed: int
    n: int
    share: float | None
    interval: Interval | None
    method: str


def pass_rate_rule(rate: PassRate, limit: float) -> GateLine:
    """The measured pass rate must reach the limit; its interval is shown, and decides nothing."""
    verdict, sentence = Verdict.CANNOT_TELL, "No result is scored."
    if rate.share is not None:
        verdict = verdict_of(rate.share, limit, is_least=True)
        interval = f" (95% {between(rate.interval)}, {rate.method})" if rate.interval else ""
        sentence = (
            f"{rate.passed:,} of {rate.n:,} scored results passed: {percent(rate.share)}{interval};"
            f" at least {percent(limit)} is required{_doubt(rate.interval, limit)}."
        )
    return GateLine(
        rule="min_pass_rate",
        verdict=verdict,
        sentence=sentence,
        n=rate.n,
        value=rate.share,
        limit=limit,
        unit="share",
        interval=rate.interval,
        method=rate.method or "count of results",
    )


def _doubt(interval: Interval | None, limit: float) -> str:
    is_inside = interval is not None and interval.low <= limit <= interval.high
    return ", which is within the interval: other tests could decide otherwise" if is_inside else ""


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
        verdict = verdict_of(value, limit_ms)
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
        verdict = verdict_of(value, limit_usd)
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
