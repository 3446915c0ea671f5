"""Totals of all calls, for counters that only rise: what was counted once is not read again."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from django.core.cache import caches
from django.db.models import Count, Max, Q, Sum
from django.utils import timezone

from evalhub.llm.models import Call
from evalhub.values.typed_json import ByKey, from_json, to_json

BUCKETS_S = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Upper bounds of the latency histogram, in seconds."""

SETTLES_AFTER = timedelta(minutes=1)
"""A transaction that records calls is committed by then, so that no earlier number can appear."""

KEY = "metrics-calls"
COST_STEP = Decimal("1e-8")
"""The precision of a cost: sums of parts must equal the sum of all, on SQLite too."""


class CallGroup(NamedTuple):
    """Calls to one model in one role with one outcome. `error_kind` "": they succeeded."""

    language_model_id: int
    role: str
    error_kind: str


@dataclass(frozen=True)
class Totals:
    """Sums over calls; `below` counts those within each of `BUCKETS_S`.

    Calls without measured latency, tokens or cost count in `calls` only.
    """

    calls: int
    timed: int
    latency_ms: int
    below: list[int]
    input_tokens: int
    output_tokens: int
    cost_usd: Decimal

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            self.calls + other.calls,
            self.timed + other.timed,
            self.latency_ms + other.latency_ms,
            [mine + theirs for mine, theirs in zip(self.below, other.below, strict=True)],
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_usd + other.cost_usd,
        )


Tally = ByKey[CallGroup, Totals]


@dataclass(frozen=True)
class Counted:
    """The state between two readings.

    `tally` holds the calls up to number `settled`; `newest` was the highest at `seen_at`.
    """

    tally: Tally
    settled: int
    newest: int
    seen_at: datetime


def read() -> Tally:
    """Return the totals of all calls. Only the first reading goes through all of them."""
    newest: int = Call.objects.aggregate(newest=Max("pk"))["newest"] or 0
    counted = _cached()
    if counted is None or counted.newest > newest:
        counted = _cache(Counted({}, 0, newest, timezone.now()))
    elif timezone.now() - counted.seen_at >= SETTLES_AFTER:
        settling = count(Q(pk__gt=counted.settled, pk__lte=counted.newest))
        tally = merged([counted.tally, settling])
        counted = _cache(Counted(tally, counted.newest, newest, timezone.now()))
    return merged([counted.tally, count(Q(pk__gt=counted.settled))])


def _cached() -> Counted | None:
    content = caches["computed"].get(KEY)
    try:
        return None if content is None else from_json(Counted, content)
    except ValueError:  # of an earlier version
        return None


def _cache(counted: Counted) -> Counted:
    caches["computed"].set(KEY, to_json(Counted, counted), None)
    return counted


def count(which: Q) -> Tally:
    bounds = {
        f"below_{number}": Count("pk", filter=Q(latency_ms__lte=bound * 1000))
        for number, bound in enumerate(BUCKETS_S)
    }
    rows = (
        Call.objects.filter(which)
        .order_by()
        .values(*CallGroup._fields)
        .annotate(
            calls=Count("pk"),
            timed=Count("latency_ms"),
            ms=Sum("latency_ms", default=0),
            tokens_in=Sum("input_tokens", default=0),
            tokens_out=Sum("output_tokens", default=0),
            usd=Sum("cost_usd", default=Decimal(0)),
            **bounds,
        )
    )
    return {
        CallGroup(*(row[name] for name in CallGroup._fields)): Totals(
            *(row["calls"], row["timed"], row["ms"], [row[name] for name in bounds]),
            *(row["tokens_in"], row["tokens_out"], row["usd"].quantize(COST_STEP)),
        )
        for row in rows
    }


def merged(tallies: Iterable[Tally]) -> Tally:
    found: Tally = {}
    for tally in tallies:
        for group, totals in tally.items():
            found[group] = found[group] + totals if group in found else totals
    return found
