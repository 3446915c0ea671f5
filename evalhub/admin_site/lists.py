"""The list of every admin."""

from typing import Any

from django.contrib import messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.http import HttpRequest
from unfold.views import ChangeList


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
