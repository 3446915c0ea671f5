"""The selection in a list that the launch form starts with."""

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
    text = as_ranges(ids).replace(" ", "")
    if name == "tests" and len(text) > MAX_CHARACTERS:
        request.session[SESSION_KEY] = text
        text = IN_SESSION
    return HttpResponseRedirect(f"{reverse('admin:runs_launch_add')}?{urlencode({name: text})}")


def selection_in(request: HttpRequest, name: str) -> str:
    """Return the numbers in the address, or those that it leaves to the session."""
    text = request.GET.get(name, "")
    return request.session.get(SESSION_KEY, "") if text == IN_SESSION else text
