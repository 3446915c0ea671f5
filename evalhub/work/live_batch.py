"""A batch of which this process holds items."""

import asyncio
import logging
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from evalhub.llm.endpoint import Endpoint
from evalhub.work.budget import Gate
from evalhub.work.kinds import Kind
from evalhub.work.rate_limiter import RateLimiters

log = logging.getLogger(__name__)

MAX_WITHOUT_CALLS = 50
"""Items at once of a batch that asks no model."""


@dataclass
class LiveBatch:
    """A batch as it was last read, its gate, and what is being done of it.

    `is_stopped`: it was seen, or made, not to be live any more; only then may it be reopened.
    """

    kind: Kind
    batch: Any = None
    endpoints: list[Endpoint] = field(default_factory=list)
    gate: Gate = field(default_factory=Gate)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    is_stopped: bool = False
    is_cancelled: bool = False

    @property
    def key(self) -> tuple[Kind, int]:
        return self.kind, self.batch.pk

    @property
    def models(self) -> set[int]:
        return {endpoint.language_model_id for endpoint in self.endpoints}

    @property
    def may_claim(self) -> bool:
        return self.gate.is_open and self.gate.refused_usd is None

    def follow(self, batch: Any, endpoints: list[Endpoint]) -> None:
        """It is live: take over how it is now, and go on where it stood still."""
        self.batch, self.endpoints = batch, endpoints
        if self.is_stopped:
            self.is_stopped = self.is_cancelled = False
            self.gate.is_open, self.gate.refused_usd = True, None

    def stop_calls(self) -> None:
        """Let no call begin until it is seen to be live again."""
        self.gate.is_open, self.is_stopped = False, True

    def free_slots(self, limiters: RateLimiters) -> int:
        """How many more items keep its models busy, with some at hand for what comes next.

        0 where one of its models is left to other workers altogether.
        """
        if not self.endpoints:
            return MAX_WITHOUT_CALLS - len(self.tasks)
        widths = [limiters.limiter(model).width for model in self.models]
        if 0 in widths:
            return 0
        busiest = max(Counter(e.language_model_id for e in self.endpoints).values())
        return -(-max(widths) // busiest) * 3 // 2 + 2 - len(self.tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("An item of %s was left as it is", self.batch, exc_info=error)
