"""Pages and downloads of every report in `reports.registry`."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus

from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    JsonResponse,
    QueryDict,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone

from evalhub.admin_site.pages import current_user
from reports.documents.document import Document
from reports.documents.exports import csv_of, json_of, markdown_of
from reports.documents.html_export import html_of
from reports.documents.origin import Origin, origin_of
from reports.documents.reading import COMPUTE, Reading
from reports.documents.rendering import needs, page
from reports.handout.rendering import CannotMakePdf, pdf_of
from reports.registry import page_of

TABLE, CHARTS = "table", "charts"
"""Parameters beside a page's filters: the table to download, and the charts of an HTML file,
"interactive" with their script of 5 MB."""


@needs("runs.view_run")
def show(request: HttpRequest, key: str) -> HttpResponse:
    """Show the page; slow figures are left to a second request with `compute`."""
    shown, state = page_of(key), state_of(request)
    form = shown.form(without(request, COMPUTE))
    reading = Reading(current_user(request), computes=COMPUTE in request.GET)
    document = shown.build(form.filters, reading)
    if reading.pending:
        document = without_conclusions(document)
    may_export = request.user.has_perm("runs.export_results")
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


def without_conclusions(document: Document) -> Document:
    """Return the report with empty tables said to be computed, not said to have nothing."""
    tables = tuple(
        table if table.rows else replace(table, empty="Being computed…")
        for table in document.tables
    )
    return replace(document, tables=tables)


@needs("runs.export_results")
def download(request: HttpRequest, key: str, ending: str) -> HttpResponseBase:
    """Download the report: one table as CSV, or everything in another format."""
    shown = page_of(key)
    form, state = shown.form(request.GET), state_of(request)
    document = shown.build(form.filters, Reading(current_user(request)))
    path = reverse(f"reports:{key}") + (f"?{state}" if state else "")
    origin = origin_of(request, document, path, form)
    name = origin.file_name(key, document.title)
    return attached(WRITERS[ending](request, document, origin), name, ending)


def attached(
    response: HttpResponseBase, name: str, ending: str, made_at: datetime | None = None
) -> HttpResponseBase:
    """Make the response a download named with the day, by default today; a refusal stays one."""
    if response.status_code == HTTPStatus.OK:
        day = timezone.localdate(made_at)
        response["Content-Disposition"] = f'attachment; filename="{name}-{day}.{ending}"'
    return response


def table_csv(request: HttpRequest, document: Document, origin: Origin) -> HttpResponseBase:
    """Return one table as CSV: the one that the address names, else the first."""
    key = request.GET.get(TABLE) or (document.tables[0].key if document.tables else "")
    table = document.table(key)
    if table is None:
        names = ", ".join(table.key for table in document.tables) or "none here"
        raise Http404(f"There is no table {key!r}; expected one of: {names}.")
    return StreamingHttpResponse(csv_of(table, origin), content_type="text/csv; charset=utf-8")


def document_json(_: HttpRequest, document: Document, origin: Origin) -> HttpResponseBase:
    return JsonResponse(json_of(document) | origin.as_json)


def document_markdown(_: HttpRequest, document: Document, origin: Origin) -> HttpResponseBase:
    text = markdown_of(document, origin)
    return HttpResponse(text, content_type="text/markdown; charset=utf-8")


def document_html(request: HttpRequest, document: Document, origin: Origin) -> HttpResponseBase:
    text = html_of(document, origin, is_interactive=request.GET.get(CHARTS) == "interactive")
    return HttpResponse(text, content_type="text/html; charset=utf-8")


def document_pdf(_: HttpRequest, document: Document, origin: Origin) -> HttpResponseBase:
    """Return the report on one page; status 501 says what the server lacks."""
    try:
        return HttpResponse(pdf_of(document, origin), content_type="application/pdf")
    except CannotMakePdf as error:
        text = "text/plain; charset=utf-8"
        return HttpResponse(str(error), content_type=text, status=HTTPStatus.NOT_IMPLEMENTED)


WRITERS: dict[str, Callable[[HttpRequest, Document, Origin], HttpResponseBase]] = {
    "csv": table_csv,
    "json": document_json,
    "md": document_markdown,
    "html": document_html,
    "pdf": document_pdf,
}
"""By ending; each takes the origin of the file, to say and to link back."""


def state_of(request: HttpRequest) -> str:
    """Return the query string with the filters only, without what is asked of one view of them."""
    pages = [name for name in request.GET if name.endswith("-page")]
    return without(request, TABLE, COMPUTE, CHARTS, *pages).urlencode()


def without(request: HttpRequest, *names: str) -> QueryDict:
    """Return the query without these parameters."""
    query = request.GET.copy()
    for name in names:
        query.pop(name, None)
    return query
