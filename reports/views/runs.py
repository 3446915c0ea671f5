from django.http import HttpRequest, HttpResponse

from evalhub.pages import row_number
from evalhub.work.leases import workers_alive
from reports.queries.runs import runs_report
from reports.views.shell import needs, page


@needs("runs.view_run")
def runs(request: HttpRequest) -> HttpResponse:
    """All runs, grouped by launch, newest first."""
    search = request.GET.get("q", "").strip()
    number = request.GET.get("page", "1")
    report = runs_report(row_number(number) or 1, search)
    return page(
        request,
        "reports/runs.html",
        "Run reports",
        report=report,
        search=search,
        workers=workers_alive(),
    )
