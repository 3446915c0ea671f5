"""Smallest change that a planned run could detect against an earlier one."""

from dataclasses import dataclass

from django.db.models import Count, F, OuterRef, Q, Subquery

from evalhub.statistics.detectable import detectable_change
from runs.baselines import latest_pair
from runs.models import Result, Suite

DEFAULT_DISCORDANCE = 0.15
"""Share of tests assumed to flip between runs, without earlier runs to measure it."""
MIN_TESTS = 20
"""Tests scored by both earlier runs that suffice to measure their share of flips."""


@dataclass(frozen=True)
class Detectable:
    """Net change that exact McNemar detects with 80% power, for one answer per test.

    Attributes:
        tests: Number of tests compared.
        discordance: Share of them assumed to flip, in [0, 1].
        source: Origin of that share, in words.
        change: Share of the tests, in (0, 1]; None if no change can be detected.
    """

    tests: int
    discordance: float
    source: str
    change: float | None


def detectable(tests: int, suite: Suite | None) -> Detectable | None:
    """Return the change that a run of so many tests could detect; None without tests."""
    if not tests:
        return None
    discordance, source = _measured(suite) or (DEFAULT_DISCORDANCE, "assumed")
    return Detectable(tests, discordance, source, detectable_change(tests, discordance))


def _measured(suite: Suite | None) -> tuple[float, str] | None:
    """Return the share of flips to the suite's latest run, from its baseline or previous run."""
    runs = latest_pair(suite) if suite else None
    if runs is None:
        return None
    before, latest = runs
    earlier = Result.objects.filter(
        run=before, revision=OuterRef("revision"), repeat=OuterRef("repeat")
    )
    scored = Result.objects.filter(run=latest, passed__isnull=False).annotate(
        before=Subquery(earlier.values("passed")[:1])
    )
    counts = scored.aggregate(
        n=Count("pk", filter=Q(before__isnull=False)),
        flips=Count("pk", filter=Q(before__isnull=False) & ~Q(before=F("passed"))),
    )
    if counts["n"] < MIN_TESTS:
        return None
    names = [run.label if before.label != latest.label else str(run) for run in runs]
    return counts["flips"] / counts["n"], f"measured from {names[0]} to {names[1]}"
