"""A batch in the worker loop: its state in memory, and the loop's transactions.

Each transaction but `claim` is safe to repeat.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple

from django.db import DatabaseError, connection, transaction

from evalhub.llm.endpoint import Endpoint
from evalhub.values import clock
from evalhub.work import leases
from evalhub.work.calls.caller import ModelCaller
from evalhub.work.kinds import AnyKind, kinds
from evalhub.work.limits.budget import Gate, Spend
from evalhub.work.limits.rate_limiter import RateLimiters
from evalhub.work.models import BatchState, ItemState, Worker

log = logging.getLogger(__name__)

MAX_WITHOUT_CALLS = 50
"""Items in progress of a batch that calls no model."""

MOST_WAVES = 4
"""Items in progress of a batch, as multiples of those that have a call in flight at once."""


@dataclass
class LiveBatch:
    """A batch as last read, its gate, and the tasks in progress with their items' callers.

    `is_stopped`: it is not live any more; only then can it be reopened. `is_ending`: the last claim
    left no more than a last wave. `ended`: the items that ended since the last claim, `ahead`: the
    most that ended from one claim to the next.
    """

    kind: AnyKind
    batch: Any = None
    endpoints: list[Endpoint] = field(default_factory=list)
    gate: Gate = field(default_factory=Gate)
    tasks: dict[asyncio.Task[None], ModelCaller] = field(default_factory=dict)
    is_stopped: bool = False
    is_cancelled: bool = False
    is_ending: bool = False
    ended: int = 0
    ahead: int = 0

    @property
    def key(self) -> tuple[AnyKind, int]:
        return self.kind, self.batch.pk

    @property
    def models(self) -> set[int]:
        return {endpoint.language_model_id for endpoint in self.endpoints}

    @property
    def may_claim(self) -> bool:
        return self.gate.is_open and self.gate.refused_usd is None

    def follow(self, batch: Any, endpoints: list[Endpoint]) -> None:
        """Take over the batch as read now, live, and let it continue if it was stopped."""
        self.batch, self.endpoints = batch, endpoints
        if self.is_stopped:
            self.is_stopped = self.is_cancelled = False
            self.gate.reopen()

    def stop_calls(self) -> None:
        """Start no call until the batch is read as live again."""
        self.gate.is_open, self.is_stopped = False, True

    def free_slots(self, limiters: RateLimiters) -> int:
        """Return how many more items keep its models busy; 0 if one is left to other workers.

        Besides the items with a call in flight, as many are claimed as end before the next claim.
        Fewer than an eighth count as none, so that items are claimed together. At the end of the
        batch none waits here that another worker could begin.
        """
        if not self.endpoints:
            return MAX_WITHOUT_CALLS - len(self.tasks)
        widths = [limiters.limiter(model).width for model in self.models]
        if 0 in widths:
            return 0
        at_once = self._at_once(max(widths))
        if self.is_ending:
            return at_once - self._busy
        enough = at_once + max(at_once // 2 + 2, min(self.ahead, (MOST_WAVES - 1) * at_once))
        free = min(enough - self._busy, MOST_WAVES * at_once - len(self.tasks))
        return free if free < 0 or free >= enough // 8 else 0

    @property
    def _busy(self) -> int:
        """Items with a call to wait for: one whose replies are only being saved needs no model."""
        return sum(not caller.has_replies for caller in self.tasks.values())

    def claimed(self) -> None:
        self.ahead, self.ended = max(self.ended, self.ahead), 0

    def last_wave(self, limiters: RateLimiters) -> int:
        """Return how many items all workers do at once; 0 if no other one takes part."""
        if not any(limiters.limiter(model).is_shared for model in self.models):
            return 0
        return self._at_once(max(endpoint.max_concurrency for endpoint in self.endpoints))

    def _at_once(self, width: int) -> int:
        """Return how many items have a call in flight when `width` calls to one model are."""
        busiest = max(Counter(e.language_model_id for e in self.endpoints).values())
        return -(-width // busiest)

    def surplus(self, limiters: RateLimiters) -> list[asyncio.Task[None]]:
        """Return the newest items without a call, if there are more than keep its models busy.

        Other workers may do them: the width shrinks when one joins.
        """
        waiting = [task for task, caller in self.tasks.items() if not caller.calls]
        return waiting[::-1][: max(0, -self.free_slots(limiters))]

    def take_again(self, item_ids: Sequence[int]) -> list[int]:
        """Go on with claimed items that were lost and are still in progress; return the others."""
        callers = self.tasks.values()
        in_progress = {one.item_id: one for one in callers if not one.is_given_back}
        for item_id in in_progress.keys() & set(item_ids):
            in_progress[item_id].is_lost = False
        return [item_id for item_id in item_ids if item_id not in in_progress]

    def start(self, work: Coroutine[Any, Any, None], caller: ModelCaller) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self.tasks[task] = caller
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self.tasks[task]
        self.ended += 1
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("An item of %s was left as it is", self.batch, exc_info=error)


Key = tuple[AnyKind, int]


class Live(NamedTuple):
    """A live batch, the endpoints that its items call, and its spend."""

    batch: Any
    endpoints: list[Endpoint]
    spend: Spend


def read_live() -> dict[Key, Live]:
    """Return every live batch. A batch that cannot be read fails, without affecting the others."""
    found = {}
    for kind in _live_kinds():
        for batch in kind.batches().filter(state=BatchState.LIVE):
            try:
                found[kind, batch.pk] = Live(batch, kind.endpoints(batch), kind.spend(batch))
            except DatabaseError:
                raise
            except Exception as error:
                log.exception("%s cannot be worked on", batch)
                stop_batch(kind, batch.pk, BatchState.FAILED, internal(error))
    return found


def _live_kinds() -> list[AnyKind]:
    """Return the kinds with a live batch: mostly one or two of them."""
    with connection.cursor() as cursor:
        cursor.execute(_live_kinds_sql(), [BatchState.LIVE.value] * len(kinds()))
        return [kinds()[number] for (number,) in sorted(cursor.fetchall())]


@cache
def _live_kinds_sql() -> str:
    tables = (connection.ops.quote_name(kind.batch_model._meta.db_table) for kind in kinds())
    return " UNION ALL ".join(
        f"SELECT {number} WHERE EXISTS (SELECT 1 FROM {table} WHERE state = %s)"
        for number, table in enumerate(tables)
    )


def internal(error: Exception) -> str:
    """Describe an error in EvalHub itself to a person."""
    return f"Internal error in EvalHub: {error!r}. See the worker's log for details."


def is_cancelled(kind: AnyKind, batch_id: int) -> bool:
    """Return True if calls in flight must end too. A deleted batch counts as cancelled."""
    state = kind.batches().filter(pk=batch_id).values_list("state", flat=True).first()
    return state in (None, BatchState.CANCELLED)


def claim(
    kind: AnyKind, batch_id: int, worker: Worker, most: int, alone: bool, last: int
) -> leases.Claim:
    """Lease items of a live batch (`leases.claim`). After an error: `leases.reconcile`."""
    return leases.claim(kind, batch_id, worker, most, alone=alone, last=last)


def give_back(kind: AnyKind, item_ids: Sequence[int], worker: Worker, after_s: float = 0.0) -> None:
    """Release items in good order, to be claimed again after `after_s` seconds."""
    mine = kind.items().filter(pk__in=item_ids, worker=worker, state=ItemState.PENDING)
    later = {"next_try_at": clock.now() + timedelta(seconds=after_s)} if after_s else {}
    leases.release(mine, **later)


def fail_item(kind: AnyKind, item_id: int, worker: Worker, message: str) -> None:
    """End an item with an internal error. It can be retried."""
    with transaction.atomic():
        mine = kind.items().filter(pk=item_id, worker=worker, state=ItemState.PENDING)
        failed = mine.update(
            state=ItemState.ERROR, error_kind="internal", error_message=message, worker=None
        )
        if failed:
            kind.on_error([item_id])


def stop_batch(kind: AnyKind, batch_id: int, state: BatchState, reason: str) -> None:
    """Set a live batch to failed or paused."""
    live = kind.batches().filter(pk=batch_id, state=BatchState.LIVE)
    live.update(state=state, reason=reason)


def finish_if_done(kind: AnyKind, batch_id: int) -> None:
    """Mark a batch as done when it has no unfinished items, as failed if none can be done.

    This is checked again under the row's lock: a person may be reopening items just now.
    """
    live = kind.batches().filter(pk=batch_id, state=BatchState.LIVE)
    if (batch := live.first()) is None:
        return
    if kind.remaining(batch).exists() and not kind.stop_reason(batch):
        return
    with transaction.atomic():
        batch = live.select_for_update(of=("self",)).first()
        if batch is None:
            return
        if kind.remaining(batch).exists():
            if reason := kind.stop_reason(batch):
                live.update(state=BatchState.FAILED, reason=reason)
            return
        live.update(state=BatchState.DONE, reason="", finished_at=clock.now())
        kind.finish(batch)


def has_due_items(kind: AnyKind, batch_id: int) -> bool:
    """Return True if the batch is live and has an item that nobody holds, to do now."""
    batch = kind.batches().filter(pk=batch_id, state=BatchState.LIVE).first()
    return batch is not None and kind.due(batch, clock.now()).exists()


def is_anything_left() -> bool:
    """Return True if a live batch has pending items, leased or waiting."""
    return any(
        kind.claimable(batch).filter(state=ItemState.PENDING).exists()
        for kind in kinds()
        for batch in kind.batches().filter(state=BatchState.LIVE)
    )
