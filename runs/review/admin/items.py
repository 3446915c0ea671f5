"""The items of a queue for its managers: filtered, and as rows."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast

from evalhub.admin_site.pages import row_number
from evalhub.models import User
from issues.admin.test.short_text import first_words
from runs.review.models import Assignment, AssignmentState, Queue, ReviewItem, Skip
from runs.review.reasons import RANDOM, REASONS, reason_descriptions


class Chosen(NamedTuple):
    """Filters of the items; "" and 0 do not filter."""

    reason: str = ""
    state: str = ""
    annotator: int = 0
    skipped: bool = False

    @classmethod
    def read(cls, sent: Mapping[str, str]) -> Self:
        reason, state = sent.get("reason", ""), sent.get("state", "")
        return cls(
            reason if reason in REASONS else "",
            state if state in AssignmentState.values else "",
            row_number(sent.get("annotator")),
            sent.get("skipped") == "1",
        )

    @property
    def query(self) -> str:
        """The query string for other pages of the list."""
        chosen = {name: str(int(v) if v is True else v) for name, v in self._asdict().items() if v}
        return f"{urlencode(chosen)}&" if chosen else ""

    def of(self, queue: Queue, reader: Any) -> QuerySet[ReviewItem]:
        rows: QuerySet[ReviewItem] = ReviewItem.objects.readable_by(reader).filter(queue=queue)
        if self.reason:
            rows = _for_reason(rows, self.reason)
        if self.state or self.annotator:
            rows = rows.filter(Exists(self._assignments()))
        if self.skipped:
            rows = rows.filter(Exists(_active_skips().filter(item=OuterRef("pk"))))
        return rows.order_by("position", "pk")

    def _assignments(self) -> QuerySet[Assignment]:
        assignments = Assignment.objects.filter(item=OuterRef("pk"))
        if self.state:
            assignments = assignments.filter(state=self.state)
        return assignments.filter(annotator=self.annotator) if self.annotator else assignments


def _for_reason(rows: QuerySet[ReviewItem], key: str) -> QuerySet[ReviewItem]:
    """Search the key in the text of the JSON: SQLite cannot query lists of objects."""
    if key == RANDOM:
        return rows.filter(is_random=True)
    as_text = Cast("reasons", TextField())
    return rows.alias(as_text=as_text).filter(as_text__contains=f'"key": "{key}"')


class ItemRow(NamedTuple):
    """A row of the list of items."""

    item: ReviewItem
    prompt: str
    reasons: list[str]
    assignments: list[Assignment]
    skips: list[Skip]


def listed(items: Sequence[ReviewItem]) -> list[ItemRow]:
    """Read the rows of a page of items, in a fixed number of queries."""
    ids = [item.pk for item in items]
    found = ReviewItem.objects.filter(pk__in=ids)
    full = found.select_related("result__issue", "result__run", "result__revision").in_bulk()
    assignments: dict[int, list[Assignment]] = defaultdict(list)
    for assignment in (
        Assignment.objects.filter(item__in=ids).select_related("annotator").order_by("number")
    ):
        assignments[assignment.item_id].append(assignment)
    skips: dict[int, list[Skip]] = defaultdict(list)
    for skip in _active_skips().filter(item__in=ids).select_related("annotator"):
        skips[skip.item_id].append(skip)
    return [
        ItemRow(
            full[pk],
            first_words(full[pk].result.revision.content["messages"]),
            reason_descriptions(full[pk]),
            assignments[pk],
            skips[pk],
        )
        for pk in ids
    ]


def _active_skips() -> QuerySet[Skip]:
    rows: QuerySet[Skip] = Skip.objects.filter(undone_at=None)
    return rows.order_by("pk")


def annotators_of(queue: Queue) -> list[User]:
    """Return everybody with an assignment or a skip in the queue."""
    assignments = Assignment.objects.filter(queue=queue, annotator__isnull=False).order_by()
    skips = Skip.objects.filter(item__queue=queue).order_by()
    either = Q(pk__in=assignments.values("annotator")) | Q(pk__in=skips.values("annotator"))
    return list(User.objects.filter(either).order_by("username"))
