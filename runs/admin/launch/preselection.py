"""The selection in a list that a form of runs starts with."""

from collections.abc import Sequence
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

from runs.launching.number_lists import as_ranges

MAX_CHARACTERS = 1500
"""Length of a selection in an address; a longer one is kept in the session."""

IN_SESSION = "selected"
SESSION_KEY = "launch_tests"


def to_launch_form(request: HttpRequest, name: str, ids: Sequence[int]) -> HttpResponseRedirect:
    """Redirect to the launch form with these tests, issues or tags chosen."""
    return HttpResponseRedirect(address_with(request, reverse("admin:runs_launch_add"), name, ids))


def address_with(request: HttpRequest, url: str, name: str, ids: Sequence[int]) -> str:
    """Return the address of a page with this selection; the session keeps a long one."""
    text = as_ranges(ids).replace(" ", "")
    if name == "tests" and len(text) > MAX_CHARACTERS:
        request.session[SESSION_KEY] = text
        text = IN_SESSION
    return f"{url}?{urlencode({name: text})}"


def selection_in(request: HttpRequest, name: str) -> str:
    """Return the numbers in the address, or those that it leaves to the session."""
    text = request.GET.get(name, "")
    return request.session.get(SESSION_KEY, "") if text == IN_SESSION else text
