"""The selection in a list that a form of runs starts with."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from runs.launching.number_lists import as_ranges, numbers_in

MAX_CHARACTERS = 1500
"""Length of a selection in an address; a longer one is kept in the session."""

IN_SESSION = "selected"
SESSION_KEY = "launch_tests"


def address_of_rows(request: HttpRequest, page: str, rows: QuerySet[Any]) -> str:
    """Return the address of a page with these tests, issues or tags chosen."""
    name, ids = f"{rows.model._meta.model_name}s", rows.values_list("pk", flat=True)
    return address_with(request, reverse(page), name, list(ids))


def address_with(request: HttpRequest, url: str, name: str, ids: Sequence[int]) -> str:
    """Return the address of a page with this selection; the session keeps a long one."""
    text = as_ranges(ids).replace(" ", "")
    if name == "tests" and len(text) > MAX_CHARACTERS:
        request.session[SESSION_KEY] = text
        text = IN_SESSION
    return f"{url}?{urlencode({name: text})}"


def selection_in(request: HttpRequest, names: Sequence[str]) -> dict[str, Any]:
    """Return the numbers in the address by name, or those that it leaves to the session."""
    found = {}
    for name in names:
        text = request.GET.get(name, "")
        try:
            found[name] = numbers_in(
                request.session.get(SESSION_KEY, "") if text == IN_SESSION else text
            )
        except ValueError as error:
            messages.warning(request, f"{name} in the address: {error}")
    return found
