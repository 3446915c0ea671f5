"""Before a run is made: how small a change its comparison with an earlier one could find."""

from dataclasses import dataclass

from django.db.models import Count, F, OuterRef, Q, Subquery

from evalhub.statistics.detectable import detectable_change
from runs.baselines import latest_pair
from runs.models import Result, Suite

DEFAULT_DISCORDANCE = 0.15
"""The share of tests that flip from one run to another, where no earlier runs tell it."""
MIN_TESTS = 20
"""So many tests that two earlier runs decided are enough to go by how many flipped."""


@dataclass(frozen=True)
class Detectable:
    """The net change that exact McNemar finds with 80 % power, of single answers.

    Attributes:
        tests: So many are compared.
        discordance: The share of them that is taken to flip, in [0, 1].
        source: Where that comes from, in words.
        change: A share of the tests, in (0, 1]; None: hardly any change would be found.
    """

    tests: int
    discordance: float
    source: str
    change: float | None


def detectable(tests: int, suite: Suite | None) -> Detectable | None:
    """What a run of so many tests could find; None where there are no tests."""
    if not tests:
        return None
    discordance, source = _measured(suite) or (DEFAULT_DISCORDANCE, "assumed, as is usual")
    return Detectable(tests, discordance, source, detectable_change(tests, discordance))


def _measured(suite: Suite | None) -> tuple[float, str] | None:
    """How many tests flipped to the suite's latest run, from its baseline or the run before."""
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
    return counts["flips"] / counts["n"], f"as from {names[0]} to {names[1]}"
