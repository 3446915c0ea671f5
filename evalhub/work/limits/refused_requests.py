"""Refused requests of a batch, and when they mean that all others would be refused.

Words that mean the key or the credit stop a batch at once, and give the item back; if its request
is refused so again, it is an error of the item, lest a resumed batch stop at it for ever. Any other
refusal is an error of its item, until too many different requests in a row were refused.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet

from evalhub.llm.errors import SUSPECT, UNSENT, CallError, CallErrorKind
from evalhub.llm.models import Call
from evalhub.work.database import Database

IN_A_ROW, IN_A_ROW_OF_WORKING = 3, 10
"""Different requests to a model refused in a row that stop a batch: the second number holds where
the model has replied in this batch before."""

MOST_RATE_LIMITED = 50
"""Calls with one request that replied 429 until the error is final."""


class RefusedRequest(NamedTuple):
    """A request of an item, by its digest, to a language model."""

    work_key: str
    item_id: int | None
    language_model_id: int
    digest: str
    asked_at: datetime


@dataclass
class Refusals:
    """The refusals of a batch in this process since each model's last reply.

    `digests` are of refused requests, by language model. `working` are models that replied.
    `reason` is why the batch must be stopped although its items ended; "": it need not be.
    """

    digests: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    working: set[int] = field(default_factory=set)
    reason: str = ""

    def replied(self, language_model_id: int) -> None:
        self.working.add(language_model_id)
        self.digests.pop(language_model_id, None)

    async def stop(
        self, error: CallError, request: RefusedRequest, reason: str, database: Database
    ) -> bool:
        """Note a failed call; return whether the batch must be stopped.

        With a `reason` then, the error is also that of the item; without, the item is given back.
        """
        if error.kind in UNSENT:
            return True
        if error.is_of_account:
            if await database.with_retries(_was_refused, request):
                self.reason = reason
            return True
        if error.kind not in SUSPECT:
            return False
        model = request.language_model_id
        self.digests[model].add(request.digest)
        count = len(self.digests[model])
        is_new = count >= IN_A_ROW and model not in self.working
        if is_new and await database.with_retries(_has_replied, request):
            self.working.add(model)
        if count < (IN_A_ROW_OF_WORKING if model in self.working else IN_A_ROW):
            return False
        self.reason = f"{reason} It refused {count} different requests in a row."
        return True


def _has_replied(request: RefusedRequest) -> bool:
    """Return whether the model has replied in this batch, in any process."""
    calls = Call.objects.filter(batch=request.work_key, error_kind="")
    return calls.filter(language_model=request.language_model_id).exists()


def _was_refused(request: RefusedRequest) -> bool:
    """Return whether this request stopped the batch before."""
    calls = _calls(request.work_key, request.item_id, request.digest)
    refused = calls.filter(error_kind=CallErrorKind.REFUSED_KEY)
    return refused.filter(started_at__lt=request.asked_at).exists()


def is_limited_for_good(work_key: str, item_id: int | None, digest: str) -> bool:
    """Return whether this request was rate limited in too many rounds to wait for another."""
    calls = _calls(work_key, item_id, digest)
    return calls.filter(error_kind=CallErrorKind.RATE_LIMITED).count() >= MOST_RATE_LIMITED


def _calls(work_key: str, item_id: int | None, digest: str) -> QuerySet[Call]:
    return Call.objects.filter(batch=work_key, item_id=item_id, request_digest=digest)
