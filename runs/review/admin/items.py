"""The items of a queue for its managers: filtered, and as rows."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from evalhub.admin_site.pages import row_number
from issues.test_texts import first_words
from runs.review.models import (
    Assignment,
    AssignmentState,
    Queue,
    ReviewItem,
    ReviewScope,
    Skip,
)
from runs.review.pair_items import disputed_items
from runs.review.reasons import REASONS, reason_descriptions


class Chosen(NamedTuple):
    """Filters of the items; "" and 0 do not filter."""

    reason: str = ""
    state: str = ""
    annotator: int = 0
    skipped: bool = False
    disputed: bool = False

    @classmethod
    def read(cls, sent: Mapping[str, str]) -> Self:
        reason, state = sent.get("reason", ""), sent.get("state", "")
        return cls(
            reason if reason in REASONS else "",
            state if state in AssignmentState.values else "",
            row_number(sent.get("annotator")),
            sent.get("skipped") == "1",
            sent.get("disputed") == "1",
        )

    def of(self, queue: Queue, reader: Any) -> QuerySet[ReviewItem]:
        rows = ReviewItem.objects.readable_by(reader).filter(queue=queue)
        if self.reason:
            rows = rows.for_reason(self.reason)
        about = {"state": self.state, "annotator": self.annotator}
        if about := {name: value for name, value in about.items() if value}:
            rows = rows.filter(Exists(Assignment.objects.filter(item=OuterRef("pk"), **about)))
        if self.skipped:
            rows = rows.filter(Exists(Skip.objects.filter(item=OuterRef("pk"), undone_at=None)))
        if self.disputed and queue.scope == ReviewScope.PAIRS:
            rows = rows.filter(pk__in=disputed_items(queue))
        elif self.disputed:
            rows = rows.filter(result__is_disputed=True)
        return rows.order_by("position", "pk")


class ItemRow(NamedTuple):
    """A row of the list of items."""

    item: ReviewItem
    prompt: str
    reasons: list[str]


def listed(page: Iterable[ReviewItem]) -> list[ItemRow]:
    """Read the rows of a page of items, in a fixed number of queries."""
    ids = [item.pk for item in page]
    items = ReviewItem.objects.filter(pk__in=ids).select_related(
        "result__issue", "result__run", "result__revision"
    )
    items = items.prefetch_related(
        Prefetch("assignments", Assignment.objects.select_related("annotator").order_by("number")),
        Prefetch(
            "skips", Skip.objects.filter(undone_at=None).select_related("annotator").order_by("pk")
        ),
    )
    return [
        ItemRow(
            item,
            first_words(item.result.revision.content["messages"]),
            reason_descriptions(item.reasons, is_random=item.is_random),
        )
        for item in items.order_by("position", "pk")
    ]
