from django.http import HttpRequest, HttpResponse

from evalhub.admin_site.pages import bounded_text, row_number
from evalhub.work.leases import workers_alive
from reports.documents.rendering import needs, page
from reports.runs.query import runs_report


@needs("runs.view_run")
def runs(request: HttpRequest) -> HttpResponse:
    """All runs, grouped by launch, newest first."""
    search = bounded_text(request.GET.get("q"), 200)
    number = request.GET.get("page", "1")
    report = runs_report(row_number(number) or 1, search)
    return page(
        request,
        "reports/runs/page.html",
        "Run reports",
        report=report,
        search=search,
        workers=workers_alive(),
    )
