import logging
import sys
from collections.abc import Callable

from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.defaults import server_error

from evalhub.work.database import may_pass

RETRY_AFTER_S = 10


class WithoutTraceback(logging.Filter):
    """Log a refusal on one line: whoever is refused could fill the log otherwise."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True


Handler = Callable[[HttpRequest], HttpResponse]


def explain_refusals(get_response: Handler) -> Handler:
    """Explain status 405, such as for the address of a button opened after a login."""

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code != 405 or response.content:
            return response
        page = render(request, "405.html", status=405)
        page["Allow"] = response["Allow"]
        return page

    return respond


def explain_errors(request: HttpRequest) -> HttpResponse:
    """Answer with status 503 if the database is gone or refuses for now, otherwise with 500."""
    error = sys.exc_info()[1]
    if not isinstance(error, Error) or not may_pass(error):
        return server_error(request)
    page = server_error(request, "503.html")
    page.status_code = 503
    page["Retry-After"] = str(RETRY_AFTER_S)
    return page
