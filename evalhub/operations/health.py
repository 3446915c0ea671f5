"""`/healthz`, `/readyz` and `/metrics`, for machines that come by any host name."""

from collections.abc import Callable

from django.db import Error
from django.http import HttpRequest, HttpResponse, JsonResponse

from evalhub.logs import describe
from evalhub.operations import metrics
from evalhub.work.database import mismatch


def answer_probes(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """The first middleware, so that neither host names nor redirects to HTTPS refuse a probe."""

    def respond(request: HttpRequest) -> HttpResponse:
        describe()
        probe = PROBES.get(request.path_info) if request.method in ("GET", "HEAD") else None
        return probe(request) if probe else get_response(request)

    return respond


def is_alive(request: HttpRequest) -> HttpResponse:
    """Answer that this process takes requests, whatever is wrong elsewhere."""
    return JsonResponse({"status": "ok"})


def is_ready(request: HttpRequest) -> HttpResponse:
    """Answer whether pages can be served: the database answers and has this code's tables."""
    try:
        problem = mismatch()
    except Error:
        problem = "The database does not answer."
    return JsonResponse({"status": problem or "ok"}, status=503 if problem else 200)


PROBES = {"/healthz": is_alive, "/readyz": is_ready, "/metrics": metrics.answer}
