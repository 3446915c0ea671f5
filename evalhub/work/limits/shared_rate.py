"""Rate limits across all worker processes: a language model's calls in flight and per minute.

Workers that use a model divide its limits. Calls that one of them has in flight beyond its part
are subtracted from the parts of the others. A 429 halves the shared rate, at most once in ten
seconds; it then recovers by itself.

While a provider is down its model's calls wait, and one at a time tries it every 15 seconds. The
first reply ends that. So an outage makes a run longer instead of ending it in errors.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import DateTimeField, Q, Value
from django.db.models.functions import Coalesce

from evalhub.limits import LONGEST_WAIT_S
from evalhub.llm import capabilities
from evalhub.llm.models import LanguageModel
from evalhub.llm.retry import MIN_SHARE
from evalhub.values import clock
from evalhub.work.models import LEASE_S, SharedRate, Worker

CUT_EVERY_S = 10.0
DOUBLES_IN_S = 60.0
"""Time in which the rate doubles after a cut, up to the full rate."""

MINUTE_S = 60.0
PROBE_S = 15.0
"""Pause between two calls to a provider that is down."""


@dataclass(frozen=True)
class Use:
    """A worker's use of a model, as announced to the other workers.

    `since` None: no longer in use. `sent` counts calls started in the last minute.
    """

    since: str | None = None
    in_flight: int = 0
    sent: int = 0


@dataclass(frozen=True)
class Shared:
    """A worker's part of a language model's limits, as if it used the model.

    `width` limits calls in flight; `per_minute` None: no limit. `seen_at` is the oldest heartbeat
    of the model's other users, by the database's clock; None: there are none. `is_even`: no other
    worker has more in flight than its part. `is_down`: its provider is.
    """

    width: int
    per_minute: int | None
    share: float
    paused_s: float
    seen_at: datetime | None
    is_even: bool = True
    is_down: bool = False


class Other(NamedTuple):
    """Another worker and its announced uses; a dead one counts only for its recent calls."""

    worker_id: int
    is_alive: bool
    beat_at: datetime
    uses: dict[int, Use]


def read_shared(since: dict[int, str | None], worker_id: int) -> dict[int, Shared]:
    """Return this worker's part of each model's limits; `since` as in `RateLimiters.since`."""
    now = clock.now()
    others = _others(now, worker_id)
    models = LanguageModel.objects.filter(pk__in=since).select_related("shared_rate")
    for model in models:
        capabilities.follow(model.pk, model.refused_params)
    return {
        model.pk: _shared(
            model,
            now,
            [(other, other.uses[model.pk]) for other in others if model.pk in other.uses],
            (since[model.pk], worker_id),
        )
        for model in models
    }


def _others(now: datetime, worker_id: int) -> list[Other]:
    lately = Worker.objects.filter(beat_at__gt=now - timedelta(seconds=MINUTE_S))
    alive_since = now - timedelta(seconds=LEASE_S)
    return [
        Other(
            worker.pk,
            worker.stopped_at is None and worker.beat_at > alive_since,
            worker.beat_at,
            {int(key): Use(**use) for key, use in dict(worker.models_in_use).items()},
        )
        for worker in lately.exclude(pk=worker_id)
    ]


def _shared(
    model: LanguageModel,
    now: datetime,
    announced: list[tuple[Other, Use]],
    me: tuple[str | None, int],
) -> Shared:
    shared_rate = getattr(model, "shared_rate", None)
    share = share_now(shared_rate, now) if shared_rate else 1.0
    not_before = shared_rate.not_before if shared_rate else None
    users = [other for other, use in announced if other.is_alive and use.since]
    ranks = _ranks(announced, me)
    in_flight = {other.worker_id: use.in_flight for other, use in announced if other.is_alive}
    sent = {other.worker_id: use.sent for other, use in announced}
    per_minute = model.requests_per_minute
    is_down = shared_rate is not None and shared_rate.down_since is not None
    width = 1 if is_down else max(1, int(model.max_concurrency * share))
    part = part_of(width, ranks, me[1], in_flight)
    return Shared(
        width=part,
        per_minute=per_minute and part_of(max(1, int(per_minute * share)), ranks, me[1], sent),
        share=share,
        paused_s=max(0.0, (not_before - now).total_seconds()) if not_before else 0.0,
        seen_at=min((user.beat_at for user in users), default=None),
        is_even=part == part_of(width, ranks, me[1], {}),
        is_down=is_down,
    )


def _ranks(announced: list[tuple[Other, Use]], me: tuple[str | None, int]) -> dict[int, int]:
    """Rank the model's users and this worker, longest use first."""
    users = [
        (use.since, other.worker_id) for other, use in announced if other.is_alive and use.since
    ]
    newest = "~"  # sorts after every date
    return {
        worker: rank for rank, (_, worker) in enumerate(sorted([*users, (me[0] or newest, me[1])]))
    }


def part_of(total: int, ranks: dict[int, int], worker_id: int, taken: dict[int, int]) -> int:
    """Return a worker's integer part of a limit; all parts add up to the limit.

    Args:
        total: The limit to divide.
        ranks: Rank of each worker among those that share the limit, from 0.
        worker_id: The worker whose part is asked for.
        taken: Use by the other workers. Anything beyond their own part is subtracted, so that the
            limit holds while they reduce it.
    """
    parts = {
        worker: (total + len(ranks) - 1 - rank) // len(ranks) for worker, rank in ranks.items()
    }
    excess = sum(max(0, used - parts.get(worker, 0)) for worker, used in taken.items())
    return max(0, parts[worker_id] - excess)


def share_now(shared_rate: SharedRate, now: datetime) -> float:
    """Return the share of the full rate, recovered since the last cut, in (0, 1]."""
    if shared_rate.cut_at is None:
        return 1.0
    since_s = max(0.0, (now - shared_rate.cut_at).total_seconds())
    return min(1.0, shared_rate.share * float(2 ** min(since_s / DOUBLES_IN_S, 10.0)))


def cut(language_model_id: int, retry_after_s: float | None) -> None:
    """Halve the shared rate of a model that replied 429, at most once in ten seconds.

    Args:
        retry_after_s: All calls to the model pause for this long, for 15 minutes at most.
    """
    now = clock.now()
    shared_rate, _ = SharedRate.objects.get_or_create(language_model_id=language_model_id)
    due = Q(cut_at__isnull=True) | Q(cut_at__lte=now - timedelta(seconds=CUT_EVERY_S))
    SharedRate.objects.filter(due, pk=shared_rate.pk).update(
        share=max(MIN_SHARE, share_now(shared_rate, now) / 2), cut_at=now
    )
    if retry_after_s:
        until = now + timedelta(seconds=min(retry_after_s, LONGEST_WAIT_S))
        earlier = Q(not_before__isnull=True) | Q(not_before__lt=until)
        SharedRate.objects.filter(earlier, pk=shared_rate.pk).update(not_before=until)


def note_outage(language_model_id: int, reason: str) -> None:
    """Note that a model's provider is down, or still is: the next call waits."""
    now = clock.now()
    SharedRate.objects.get_or_create(language_model_id=language_model_id)
    SharedRate.objects.filter(pk=language_model_id).update(
        down_since=Coalesce("down_since", Value(now, DateTimeField())),
        down_reason=reason,
        not_before=now + timedelta(seconds=PROBE_S),
    )


def end_outage(language_model_id: int) -> None:
    """Note that a model's provider replied."""
    down = SharedRate.objects.filter(pk=language_model_id, down_since__isnull=False)
    down.update(down_since=None, down_reason="", not_before=None)


def changed(
    language_model_id: int,
    since: str | None,
    worker_id: int,
    change: Callable[..., None],
    *args: Any,
) -> dict[int, Shared]:
    """Make a change to a model's shared rate, and return this worker's part of it as it is then.

    `since` is as in `RateLimiters.since`.
    """
    change(language_model_id, *args)
    return read_shared({language_model_id: since}, worker_id)
