"""The inbox of new feedback: what waits, newest first, and where in it somebody is.

No page of it counts or reads all that waits: rows beside the one that is looked at are found by
their number, and filters are offered from the newest ones.
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
"""Rows in the list above and below the one that is looked at."""
MOST_COUNTED = 1000
LOOKED_THROUGH = 500
"""The newest rows whose sources and models are offered as filters."""
MOST_OFFERED = 30
LONGEST = 200


class InboxFilter(NamedTuple):
    """What the list is narrowed to; "" is everything."""

    source: str = ""
    model: str = ""
    rating: str = ""

    @property
    def query(self) -> str:
        """As it stands in addresses, after an ampersand; "" for everything."""
        return "".join(f"&{urlencode({n: v})}" for n, v in self._asdict().items() if v)


class FilterOptions(NamedTuple):
    """Values that the list can be narrowed to."""

    sources: list[str]
    models: list[str]
    ratings: list[tuple[str, str]]


@dataclass(frozen=True)
class InboxPosition:
    """Where somebody is in the inbox. `item` is None where nothing waits.

    `rows` are those around it, newest first; `waiting` counts up to `MOST_COUNTED`.
    """

    item: Feedback | None
    rows: list[Any]
    newer: int | None
    older: int | None
    waiting: int

    @property
    def is_counted(self) -> bool:
        return self.waiting < MOST_COUNTED


def filter_of(sent: Mapping[str, str]) -> InboxFilter:
    rating = sent.get("rating", "")
    return InboxFilter(
        bounded_text(sent.get("source"), LONGEST),
        bounded_text(sent.get("model"), LONGEST),
        rating if rating in Rating.values else "",
    )


def waiting(reader: User | AnonymousUser, choice: InboxFilter) -> QuerySet[Feedback]:
    """New feedback that this person may read, newest first."""
    fields = {name: value for name, value in choice._asdict().items() if value}
    readable: QuerySet[Feedback] = Feedback.objects.readable_by(reader)
    return readable.filter(state=FeedbackState.NEW, **fields).order_by("-pk")


def position_at(reader: User | AnonymousUser, choice: InboxFilter, pk: int = 0) -> InboxPosition:
    """The place of a row, or of the first one where `pk` is 0 or is not this person's to see.

    A row that was triaged stays to be seen, between those that wait.
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
        rows.order_by()[:MOST_COUNTED].count(),
    )


def next_after(reader: User | AnonymousUser, choice: InboxFilter, pk: int) -> int:
    """The row that comes after one that was triaged, or the first one; 0 where nothing waits."""
    rows = waiting(reader, choice).values_list("pk", flat=True)
    return rows.filter(pk__lt=pk).first() or rows.first() or 0


def filter_options(reader: User | AnonymousUser) -> FilterOptions:
    newest = waiting(reader, InboxFilter()).values_list("source", "model")[:LOOKED_THROUGH]
    pairs = list(newest)
    sources = sorted({source for source, _ in pairs} - {""})
    models = sorted({model for _, model in pairs} - {""})
    return FilterOptions(sources[:MOST_OFFERED], models[:MOST_OFFERED], Rating.choices)


def _short(rows: QuerySet[Feedback]) -> Any:
    """What the list shows of rows, and not the long texts."""
    cut = rows.annotate(said=Left("comment", 120), asked=Left("prompt", 120))
    return cut.values("pk", "said", "asked", "rating", "source", "created_at")


def _row(item: Feedback) -> dict[str, Any]:
    names = ("pk", "rating", "source", "created_at")
    texts = {"said": item.comment[:120], "asked": item.prompt[:120]}
    return {**{name: getattr(item, name) for name in names}, **texts}
