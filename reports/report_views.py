"""Pages and downloads of every report in `reports.registry`."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify

from evalhub.admin_site.pages import current_user
from reports.documents.document import Document
from reports.documents.exports import csv_of, json_of, markdown_of
from reports.documents.html_export import html_of
from reports.documents.reading import Reading
from reports.documents.rendering import needs, page
from reports.registry import page_of

MAX_NAME = 80
"""Characters of a report's title in the names of its files."""

TABLE, COMPUTE = "table", "compute"
"""Parameters beside a page's filters: the table to download, and to compute now."""


@needs("runs.view_run")
def show(request: HttpRequest, key: str) -> HttpResponse:
    """Show the page; slow figures are left to a second request with `compute`."""
    shown = page_of(key)
    reading = Reading(current_user(request), computes=COMPUTE in request.GET)
    form = shown.form(request.GET)
    document = shown.build(form.filters, reading)
    may_export, state = request.user.has_perm("runs.export_results"), state_of(request)
    csv = reverse(f"reports:{key}_download", args=["csv"])
    return page(
        request,
        shown.template,
        shown.title,
        subtitle=document.title,
        report_page=shown,
        document=document,
        form=form,
        is_pending=reading.pending,
        state=state,
        may_export=may_export,
        csv_url=(f"{csv}?{state}&" if state else f"{csv}?") if may_export else "",
        may_schedule=request.user.has_perm("reports.add_reportschedule"),
    )


@needs("runs.export_results")
def download(request: HttpRequest, key: str, ending: str) -> HttpResponseBase:
    """Download the report: one table as CSV, or everything in another format."""
    shown = page_of(key)
    document = shown.build(shown.form(request.GET).filters, Reading(current_user(request)))
    state = state_of(request)
    url = reverse(f"reports:{key}") + (f"?{state}" if state else "")
    name = f"{key}-{slugify(document.title)[:MAX_NAME]}"
    return attached(WRITERS[ending](request, document, url), name, ending)


def attached(response: HttpResponseBase, name: str, ending: str) -> HttpResponseBase:
    """Make the response a download named with the current time."""
    name = f"{name}-{timezone.now():%Y%m%d-%H%M}.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def table_csv(request: HttpRequest, document: Document, _: str) -> HttpResponseBase:
    """Return one table as CSV: the one that the address names, else the first."""
    key = request.GET.get(TABLE) or (document.tables[0].key if document.tables else "")
    table = document.table(key)
    if table is None:
        names = ", ".join(table.key for table in document.tables) or "none here"
        raise Http404(f"There is no table {key!r}; expected one of: {names}.")
    return StreamingHttpResponse(csv_of(table), content_type="text/csv; charset=utf-8")


def document_json(request: HttpRequest, document: Document, url: str) -> HttpResponseBase:
    made = {"url": request.build_absolute_uri(url), "made_at": timezone.now()}
    return JsonResponse(json_of(document) | made)


def document_markdown(request: HttpRequest, document: Document, url: str) -> HttpResponseBase:
    text = markdown_of(document, url=request.build_absolute_uri(url))
    return HttpResponse(text, content_type="text/markdown; charset=utf-8")


def document_html(request: HttpRequest, document: Document, url: str) -> HttpResponseBase:
    text = html_of(document, url=request.build_absolute_uri(url))
    return HttpResponse(text, content_type="text/html; charset=utf-8")


WRITERS: dict[str, Callable[[HttpRequest, Document, str], HttpResponseBase]] = {
    "csv": table_csv,
    "json": document_json,
    "md": document_markdown,
    "html": document_html,
}
"""By ending; each takes the path of the page that the file is made from, to link back."""


def state_of(request: HttpRequest) -> str:
    """Return the query string with the page's filters only."""
    query = request.GET.copy()
    for name in [name for name in query if name in (TABLE, COMPUTE) or name.endswith("-page")]:
        del query[name]
    return str(query.urlencode())
