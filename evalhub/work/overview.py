from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, QuerySet
from django.utils import timezone
from django_q.models import OrmQ

from evalhub.llm.models import LanguageModel
from evalhub.values import clock
from evalhub.work.kinds import kinds
from evalhub.work.leases import alive
from evalhub.work.models import (
    LEASE_S,
    Batch,
    BatchState,
    FinishedTask,
    Item,
    ItemState,
    SharedRate,
    Worker,
)
from evalhub.work.progress import counts

HELD = 200
"""Items in progress shown, those that are held longest."""

RECENT = 10
"""Finished tasks and dead workers shown."""

DEAD_DAYS = 7


@dataclass(frozen=True)
class RunningWorker:
    """A worker that has not ended, with its leased items by batch."""

    row: Worker
    is_responding: bool
    items: dict[str, int]
    models: list[str]


@dataclass(frozen=True)
class Holding:
    """An item that a worker holds: other workers leave it until the lease ends.

    The lease is renewed with each heartbeat. `url` "": the item has no page.
    """

    name: str
    url: str
    batch: str
    worker: Worker
    since: datetime | None

    @property
    def until(self) -> datetime:
        return self.worker.beat_at + timedelta(seconds=LEASE_S)


@dataclass(frozen=True)
class QueuedTask:
    """A task in the queue. `queued_at` None: it cannot be read, as with another secret key."""

    name: str
    queued_at: datetime | None
    is_taken: bool


@dataclass(frozen=True)
class BatchProgress:
    """The items of a live batch by state. `url` "": it has no page."""

    name: str
    url: str
    items: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.items.values())


def running_workers() -> list[RunningWorker]:
    rows = list(Worker.objects.filter(stopped_at=None))
    responding = set(Worker.objects.filter(alive()).values_list("pk", flat=True))
    leased: dict[int, dict[str, int]] = defaultdict(dict)
    for kind in kinds():
        items = kind.items().filter(state=ItemState.PENDING, worker__in=rows).order_by()
        groups = items.values_list("worker", kind.batch_field).annotate(Count("pk"))
        for worker, batch, count in groups:
            leased[worker][f"{kind.batch_model._meta.verbose_name} {batch}"] = count
    names = dict(LanguageModel.objects.values_list("pk", "name"))
    return [
        RunningWorker(
            row,
            row.pk in responding,
            leased[row.pk],
            [names[int(key)] for key in row.models_in_use if int(key) in names],
        )
        for row in rows
    ]


def holding_of(item: Item) -> Holding | None:
    """Return who works on an item, since when and until when; None: nobody."""
    if item.worker is None or item.state != ItemState.PENDING:
        return None
    kind = next(kind for kind in kinds() if isinstance(item, kind.item_model))
    return Holding(
        f"{item._meta.verbose_name} {item.pk}",
        getattr(item, "get_absolute_url", str)(),
        f"{kind.batch_model._meta.verbose_name} {getattr(item, f'{kind.batch_field}_id')}",
        item.worker,
        item.claimed_at,
    )


def holdings() -> list[Holding]:
    """Return the items in progress, at most 200, those that are held longest first."""
    found: list[Any] = []
    for kind in kinds():
        held = kind.items().filter(state=ItemState.PENDING, worker__isnull=False)
        found += held.select_related("worker").order_by("claimed_at")[:HELD]
    found.sort(key=lambda item: item.claimed_at or item.worker.started_at)
    return [holding for item in found[:HELD] if (holding := holding_of(item))]


def outages(batches: Iterable[Batch] | None = None) -> list[SharedRate]:
    """Return the language models whose provider is down now; only those that batches call."""
    down = SharedRate.objects.filter(down_since__isnull=False).select_related("language_model")
    found = list(down.order_by("down_since"))
    if batches is None or not found:
        return found
    called = {
        endpoint.language_model_id
        for batch in batches
        for kind in kinds()
        if isinstance(batch, kind.batch_model)
        for endpoint in kind.endpoints(batch)
    }
    return [one for one in found if one.language_model_id in called]


def dead_workers() -> QuerySet[Worker]:
    """Return recent workers that were taken for dead; an orderly end is also a last heartbeat."""
    died = Worker.objects.filter(stopped_at__gt=F("beat_at"))
    return died.filter(stopped_at__gt=clock.ago(DEAD_DAYS * 86_400))[:RECENT]


def queued_tasks() -> list[QueuedTask]:
    now = timezone.now()
    return [
        QueuedTask(
            row.name() or "unreadable task",
            row.task.get("started"),
            bool(row.lock and row.lock > now),
        )
        for row in OrmQ.objects.order_by("pk")
    ]


def finished_tasks() -> QuerySet[FinishedTask]:
    return FinishedTask.objects.all()[:RECENT]


def live_batches() -> Iterator[BatchProgress]:
    for kind in kinds():
        for batch in kind.batches().filter(state=BatchState.LIVE).order_by("pk"):
            url = getattr(batch, "get_absolute_url", str)()
            yield BatchProgress(batch.work_name, url, counts(kind.items_of(batch)))
