"""The items of a queue as those who run it see them: chosen, and put into lines."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast

from evalhub.models import User
from evalhub.pages import row_number
from issues.admin.words import first_words
from runs.review.models import Place, PlaceState, Queue, ReviewItem, Skip
from runs.review.reasons import RANDOM, REASONS, told_of


class Chosen(NamedTuple):
    """Which items are listed; "" and 0 choose nothing away."""

    reason: str = ""
    state: str = ""
    person: int = 0
    skipped: bool = False

    @classmethod
    def read(cls, sent: Mapping[str, str]) -> Self:
        reason, state = sent.get("reason", ""), sent.get("state", "")
        return cls(
            reason if reason in REASONS else "",
            state if state in PlaceState.values else "",
            row_number(sent.get("person")),
            sent.get("skipped") == "1",
        )

    @property
    def query(self) -> str:
        """For the links to other pages of the list."""
        chosen = {name: str(int(v) if v is True else v) for name, v in self._asdict().items() if v}
        return f"{urlencode(chosen)}&" if chosen else ""

    def of(self, queue: Queue, reader: Any) -> QuerySet[ReviewItem]:
        rows: QuerySet[ReviewItem] = ReviewItem.objects.readable_by(reader).filter(queue=queue)
        if self.reason:
            rows = _for_reason(rows, self.reason)
        if self.state or self.person:
            rows = rows.filter(Exists(self._places()))
        if self.skipped:
            rows = rows.filter(Exists(_standing_skips().filter(item=OuterRef("pk"))))
        return rows.order_by("position", "pk")

    def _places(self) -> QuerySet[Place]:
        places = Place.objects.filter(item=OuterRef("pk"))
        if self.state:
            places = places.filter(state=self.state)
        return places.filter(annotator=self.person) if self.person else places


def _for_reason(rows: QuerySet[ReviewItem], key: str) -> QuerySet[ReviewItem]:
    """SQLite cannot ask whether a list contains an object: the key is looked for in its text."""
    if key == RANDOM:
        return rows.filter(is_random=True)
    as_text = Cast("reasons", TextField())
    return rows.alias(as_text=as_text).filter(as_text__contains=f'"key": "{key}"')


class Line(NamedTuple):
    """One item of the list."""

    item: ReviewItem
    words: str
    reasons: list[str]
    places: list[Place]
    skips: list[Skip]


def listed(items: Sequence[ReviewItem]) -> list[Line]:
    """The lines of a page of items, in a fixed number of queries."""
    ids = [item.pk for item in items]
    found = ReviewItem.objects.filter(pk__in=ids)
    full = found.select_related("result__issue", "result__run", "result__revision").in_bulk()
    places: dict[int, list[Place]] = defaultdict(list)
    for place in Place.objects.filter(item__in=ids).select_related("annotator").order_by("number"):
        places[place.item_id].append(place)
    skips: dict[int, list[Skip]] = defaultdict(list)
    for skip in _standing_skips().filter(item__in=ids).select_related("annotator"):
        skips[skip.item_id].append(skip)
    return [
        Line(
            full[pk],
            first_words(full[pk].result.revision.content["messages"]),
            told_of(full[pk]),
            places[pk],
            skips[pk],
        )
        for pk in ids
    ]


def _standing_skips() -> QuerySet[Skip]:
    rows: QuerySet[Skip] = Skip.objects.filter(taken_back_at=None)
    return rows.order_by("pk")


def people_of(queue: Queue) -> list[User]:
    """Who has a place or a skip in it."""
    places = Place.objects.filter(queue=queue, annotator__isnull=False).order_by()
    skips = Skip.objects.filter(item__queue=queue).order_by()
    either = Q(pk__in=places.values("annotator")) | Q(pk__in=skips.values("annotator"))
    return list(User.objects.filter(either).order_by("username"))
