import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


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
