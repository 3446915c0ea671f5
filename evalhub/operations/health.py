"""`/healthz` and `/readyz`, for load balancers and container runtimes: no login, any host name."""

from collections.abc import Callable

from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from evalhub.work.schema import mismatch


class Health:
    """The first middleware, so that neither host names nor redirects to HTTPS refuse a probe."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        probe = PROBES.get(request.path_info) if request.method in ("GET", "HEAD") else None
        response = probe() if probe else self.get_response(request)
        if probe:
            response["Cache-Control"] = "no-store"
        return response


def is_alive() -> HttpResponse:
    """Answer that this process takes requests, whatever is wrong elsewhere."""
    return JsonResponse({"status": "ok"})


def is_ready() -> HttpResponse:
    """Answer whether pages can be served: the database answers and has this code's tables."""
    try:
        problem = mismatch()
    except Error:
        problem = "The database does not answer."
    finally:
        connection.close_if_unusable_or_obsolete()
    return JsonResponse({"status": problem or "ok"}, status=503 if problem else 200)


PROBES = {"/healthz": is_alive, "/readyz": is_ready}
