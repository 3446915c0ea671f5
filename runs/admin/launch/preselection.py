"""From a list to the launch form: what was selected there is chosen here."""

from collections.abc import Sequence
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

from runs.launching.number_lists import as_ranges, numbers_in

LONGEST = 1500
"""Characters of an address; a longer selection travels in the session."""

IN_SESSION = "selected"
SESSION_KEY = "launch_tests"


def to_launch_form(request: HttpRequest, name: str, ids: Sequence[int]) -> HttpResponseRedirect:
    """Go to the launch form with these tests, issues or tags chosen."""
    text = as_ranges(ids).replace(" ", "")
    if name == "tests" and len(text) > LONGEST:
        request.session[SESSION_KEY] = text
        text = IN_SESSION
    return HttpResponseRedirect(f"{reverse('admin:runs_launch_add')}?{urlencode({name: text})}")


def selected_tests(request: HttpRequest) -> list[int]:
    """The tests of a selection that was too long for the address."""
    if request.GET.get("tests") != IN_SESSION:
        return []
    return numbers_in(request.session.get(SESSION_KEY, ""))
