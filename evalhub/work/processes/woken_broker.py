"""The queue in the database, with Redis to wake workers at once, where EVALHUB_REDIS_URL is set.

Redis holds no task, only signs that one was queued. Where it fails, or loses them, a waiting worker
looks into the database by itself, and whoever queues a task is not kept waiting.
"""

import logging
import time
from collections.abc import Callable
from typing import Any

from django_q.brokers.orm import ORM
from django_q.brokers.redis_broker import Redis as RedisBroker
from django_q.conf import Conf
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from evalhub.work.processes.queue import MAX_TASKS

log = logging.getLogger(__name__)

LOOK_S = 0.5
"""Pause between two looks into the database while Redis does not answer."""
TRY_AGAIN_S = 10.0
ANSWER_S = 3.0

_down_until = 0.0


class Signs(RedisBroker):
    """django-q2's list in Redis; waits up to a second for a sign, and never long for Redis."""

    @staticmethod
    def get_connection(list_key: str | None = None) -> Any:
        waits = {"socket_connect_timeout": 1.0, "socket_timeout": ANSWER_S}
        return Redis.from_url(Conf.REDIS, retry=Retry(NoBackoff(), 0), **waits)

    def leave(self) -> None:
        """Leave a sign; no more are kept than tasks may wait."""
        self.enqueue(b"1")
        self.connection.ltrim(self.list_key, -MAX_TASKS, -1)


class WokenBroker(ORM):
    def __init__(self, list_key: str | None = None) -> None:
        super().__init__(list_key)
        self.signs = Signs(list_key)

    def enqueue(self, task: str) -> Any:
        number = super().enqueue(task)
        attempt(self.signs.leave)
        return number

    def dequeue(self) -> Any:
        tasks = super().dequeue()  # which does not pause, as settings say
        if not tasks and not attempt(self.signs.dequeue):
            time.sleep(LOOK_S)
        return tasks


def attempt(act: Callable[[], Any]) -> bool:
    """Use Redis; return False if it does not answer, and is left alone for a while."""
    global _down_until
    if time.monotonic() < _down_until:
        return False
    try:
        act()
    except (RedisError, OSError) as error:
        log.warning("Redis does not answer; workers look into the database instead: %s", error)
        _down_until = time.monotonic() + TRY_AGAIN_S
        return False
    return True
