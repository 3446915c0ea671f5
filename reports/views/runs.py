from django.http import HttpRequest, HttpResponse

from evalhub.pages import person, row_number, typed
from evalhub.work.leases import workers_alive
from reports.pages.shell import Reading
from reports.queries.runs import runs_report
from reports.views.pages import COMPUTE
from reports.views.shell import needs, page


@needs("runs.view_run")
def runs(request: HttpRequest) -> HttpResponse:
    """All runs, grouped by launch, newest first."""
    search = typed(request.GET.get("q"), 200)
    number = request.GET.get("page", "1")
    reading = Reading(person(request), computes=COMPUTE in request.GET)
    report = runs_report(row_number(number) or 1, search, reading=reading)
    return page(
        request,
        "reports/runs.html",
        "Run reports",
        report=report,
        search=search,
        is_pending=reading.pending,
        workers=workers_alive(),
    )
