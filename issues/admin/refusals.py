from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ValidationError
from django.http import HttpRequest

from evalhub.admin_site.pages import PageAdmin
from issues.states import Refused


@contextmanager
def refusals_shown(admin: PageAdmin, request: HttpRequest) -> Iterator[None]:
    """Show a refusal or an invalid value as an error message, and go on after the block."""
    try:
        yield
    except Refused as error:
        admin.say(request, *error.problems)
    except ValidationError as error:
        admin.say(request, *error.messages)
