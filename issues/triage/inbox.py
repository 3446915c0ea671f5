"""Inbox of new feedback: the queue, newest first, and a position in it.

No page counts or reads the whole queue: neighbours are found by number, and filter options come
from the newest rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.db.models.functions import Left

from evalhub.access.models import User
from evalhub.admin_site.pages import bounded_text
from issues.models import Feedback, FeedbackState, Rating

BEFORE, AFTER = 4, 25
"""Rows listed above and below the current one."""
MAX_COUNTED = 1000
MAX_SEARCHED = 500
"""Newest rows whose sources and models are offered as filters."""
MAX_OFFERED = 30
MAX_LENGTH = 200


class InboxFilter(NamedTuple):
    """Filter of the list; "" means any."""

    source: str = ""
    model: str = ""
    rating: str = ""

    @property
    def query(self) -> str:
        """URL query after an ampersand; "" for no filter."""
        return "".join(f"&{urlencode({n: v})}" for n, v in self._asdict().items() if v)


@dataclass(frozen=True)
class InboxPosition:
    """Position in the inbox. `item` is None if the queue is empty.

    `rows` are its neighbours, newest first; `waiting` counts up to `MAX_COUNTED`.
    """

    item: Feedback | None
    rows: list[Any]
    newer: int | None
    older: int | None
    waiting: int

    @property
    def is_counted(self) -> bool:
        return self.waiting < MAX_COUNTED


def filter_of(sent: Mapping[str, str]) -> InboxFilter:
    rating = sent.get("rating", "")
    return InboxFilter(
        bounded_text(sent.get("source"), MAX_LENGTH),
        bounded_text(sent.get("model"), MAX_LENGTH),
        rating if rating in Rating.values else "",
    )


def waiting(reader: User | AnonymousUser, choice: InboxFilter) -> QuerySet[Feedback]:
    """Return new feedback that this user may read, newest first."""
    fields = {name: value for name, value in choice._asdict().items() if value}
    readable: QuerySet[Feedback] = Feedback.objects.readable_by(reader)
    return readable.filter(state=FeedbackState.NEW, **fields).order_by("-pk")


def position_at(reader: User | AnonymousUser, choice: InboxFilter, pk: int = 0) -> InboxPosition:
    """Return the position of a row, or of the first one if `pk` is 0 or unreadable.

    A triaged row stays visible between those that wait.
    """
    rows = waiting(reader, choice)
    readable = Feedback.objects.readable_by(reader).select_related("issue", "duplicate_of")
    item = readable.filter(pk=pk).first() if pk else None
    item = item or rows.select_related("issue", "duplicate_of").first()
    if item is None:
        return InboxPosition(None, [], None, None, 0)
    newer = list(reversed(_short(rows.filter(pk__gt=item.pk).order_by("pk"))[:BEFORE]))
    older = list(_short(rows.filter(pk__lt=item.pk))[:AFTER])
    return InboxPosition(
        item,
        [*newer, _row(item), *older],
        newer[-1]["pk"] if newer else None,
        older[0]["pk"] if older else None,
        rows.order_by()[:MAX_COUNTED].count(),
    )


def next_after(reader: User | AnonymousUser, choice: InboxFilter, pk: int) -> int:
    """Return the row after a triaged one, or the first one; 0 for an empty queue."""
    rows = waiting(reader, choice).values_list("pk", flat=True)
    return rows.filter(pk__lt=pk).first() or rows.first() or 0


def filter_options(reader: User | AnonymousUser) -> dict[str, Any]:
    newest = waiting(reader, InboxFilter()).values_list("source", "model")[:MAX_SEARCHED]
    pairs = list(newest)
    sources = sorted({source for source, _ in pairs} - {""})[:MAX_OFFERED]
    models = sorted({model for _, model in pairs} - {""})[:MAX_OFFERED]
    return {"sources": sources, "models": models, "ratings": Rating.choices}


def _short(rows: QuerySet[Feedback]) -> Any:
    """Return the listed columns, without the long texts."""
    cut = rows.annotate(said=Left("comment", 120), asked=Left("prompt", 120))
    return cut.values("pk", "said", "asked", "rating", "source", "created_at")


def _row(item: Feedback) -> dict[str, Any]:
    names = ("pk", "rating", "source", "created_at")
    texts = {"said": item.comment[:120], "asked": item.prompt[:120]}
    return {**{name: getattr(item, name) for name in names}, **texts}
