"""The list of every admin."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from django.contrib import messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.paginator import Page, Paginator
from django.http import HttpRequest
from unfold.views import ChangeList


class BoundedPaginator(Paginator):
    """Pages of the first `most` rows: counting, skipping and sorting millions takes seconds.

    Filters and search find the others. Where a reader sorts a longer list by a column, its first
    rows are sorted, which are the first in the order `unsorted`.
    """

    most = 10_000
    unsorted: Sequence[Any] = ()

    @cached_property
    def _found(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by().values("pk")[: self.most + 1].count())

    @cached_property
    def count(self) -> int:
        return min(self._found, self.most)

    @property
    def has_more(self) -> bool:
        """Tell whether the list has rows on no page."""
        return self._found > self.most

    def page(self, number: Any) -> Page:
        rows: Any = self.object_list
        if self.unsorted and self.has_more:
            first = rows.order_by(*self.unsorted).values("pk")[: self.most]
            self.object_list = rows.filter(pk__in=first)
        return super().page(number)

    @property
    def template_name(self) -> str:
        """Return unfold's name for a template of page numbers; "" for its own."""
        return "evalhub/bounded_pages.html" if self.has_more else ""


class PageList(ChangeList):
    """A list that reads only what its filters and search offer.

    Django applies any other look-up on the table's own columns, such as `description__startswith`,
    which tells letter by letter what a page hides. Here only look-ups that a filter declares and
    those that pages link to (`PageAdmin.linked_lookups`) are applied.
    """

    def get_filters(self, request: HttpRequest) -> Any:
        found = super().get_filters(request)
        lookups: dict[str, Any] = found[2]
        stray = sorted(lookups.keys() - set(self.model_admin.linked_lookups))
        if stray:
            words = f"This list has no filter {', '.join(stray)}."
            messages.error(request, f"{words} It is shown without filters.", fail_silently=True)
            raise IncorrectLookupParameters(words)
        return found
