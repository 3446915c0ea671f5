import sys
from collections.abc import Callable

from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.defaults import page_not_found, permission_denied, server_error

from evalhub.api.problems import CODES, response_of
from evalhub.work.database import may_pass

RETRY_AFTER_S = 10
AWAY = "The database does not answer for now. Nothing was saved: try again."


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


def explain_missing(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer with status 404, to scripts in JSON."""
    if is_api(request):
        return response_of(request, "not_found", f"There is no address {request.path}.")
    return page_not_found(request, exception)


def explain_forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer with status 403, to scripts in JSON."""
    if is_api(request):
        return response_of(request, "permission_denied", str(exception))
    return permission_denied(request, exception)


def explain_errors(request: HttpRequest) -> HttpResponse:
    """Answer with status 503 if the database is gone or refuses for now, otherwise with 500."""
    error = sys.exc_info()[1]
    passes = isinstance(error, Error) and may_pass(error)
    code, text = ("unavailable", AWAY) if passes else ("error", CODES["error"].meaning)
    status = CODES[code].status
    if is_api(request):
        page: HttpResponse = response_of(request, code, text)
    else:
        page = server_error(request, f"{status}.html")
        page.status_code = status
    if passes:
        page["Retry-After"] = str(RETRY_AFTER_S)
    return page


def is_api(request: HttpRequest) -> bool:
    """Return True for a script's request, of the API or of a report with a token."""
    return request.path_info.startswith("/api/v1/") or hasattr(request, "token")
