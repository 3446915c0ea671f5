"""The page of one run, its progress and its downloads."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from evalhub.admin_site.pages import current_user
from evalhub.work.leases import workers_alive
from reports.documents.document import Document
from reports.documents.exports import json_of, markdown_of
from reports.documents.html_export import html_of
from reports.documents.rendering import needs, page
from reports.queries.result_rows import RESULT_COLUMNS, ResultTable
from reports.report_views import COMPUTE, TABLE, table_csv
from reports.run.exports import csv_lines
from reports.run.judgments_query import JUDGMENT_COLUMNS, human_scores_of
from reports.run.junit import junit_lines
from reports.run.page import document_of_run
from reports.run.progress_query import progress_of
from reports.run.query import RunReport, judge_runs_of, run_report
from runs.figures.filters import SORTS, Filters
from runs.figures.states import current_of
from runs.models import Jury, Run

SECTIONS = {
    "head": ("outcomes", "settings"),
    "issues": ("issues",),
    "groups": ("domains", "tags", "sealing", "flaky", "weights"),
    "side_by_side": (
        "judges",
        "agreement",
        "judge_errors",
        "usage",
        "percentiles",
        "latency",
        "cost",
    ),
    "rest": ("overrides", "errors", "judge_runs"),
}
"""The tables of each part of the page, by their keys."""


def _run(pk: int) -> Run:
    return get_object_or_404(Run.objects.select_related("launch", "suite", "requested_by"), pk=pk)


@needs("runs.view_run")
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """The report of a run."""
    filters = Filters.read(request.GET)
    computes = COMPUTE in request.GET
    report = run_report(_run(pk), filters, reader=current_user(request), computes=computes)
    document = document_of_run(report, filters)
    tables = {table.key: table for table in document.tables}
    may_export = request.user.has_perm("runs.export_results")
    csv = reverse("reports:run_csv", args=[pk])
    return page(
        request,
        "reports/run/page.html",
        report.run.label,
        subtitle="Run report",
        report=report,
        document=document,
        sections={
            part: [tables[key] for key in keys if key in tables] for part, keys in SECTIONS.items()
        },
        run=report.run,
        filters=filters,
        sorts=SORTS,
        may_export=may_export,
        csv_url=f"{csv}?" if may_export else "",
        **_controls(request, report),
    )


def _controls(request: HttpRequest, report: RunReport) -> dict[str, Any]:
    """Return the actions that the user may take, and whether workers are missing."""
    may_control = request.user.has_perm("runs.control_run")
    return {
        "may_control": may_control,
        "control_url": reverse("admin:runs_run_control", args=[report.run.pk]),
        "juries": Jury.objects.filter(is_active=True) if may_control else (),
        "is_stuck": report.progress.is_live and not workers_alive(),
    }


@needs("runs.view_run")
def progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the progress as JSON, for the page to poll."""
    found = _run(pk)
    return JsonResponse(progress_of(found, judge_runs_of(found)).as_json())


@needs("runs.view_run")
def rows(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the grid alone, such as the results of one issue."""
    filters = Filters.read(request.GET)
    sheet = _sheet(request, pk)
    grid = sheet.page(filters)
    context = {"run": sheet.run, "grid": grid, "filters": filters, "is_part": True}
    return TemplateResponse(request, "reports/run/result_rows.html", context)


@needs("runs.export_results")
def download_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Download all results that fit the filters, or one table of the report, as CSV."""
    if TABLE in request.GET:
        report = run_report(_run(pk), Filters(), reader=current_user(request))
        response = table_csv(request, document_of_run(report))
        response["Content-Disposition"] = _attachment(f"run-{pk}-{request.GET[TABLE]}", "csv")
        return response
    sheet, filters = _sheet(request, pk), Filters.read(request.GET)
    seats = sheet.seats() if filters.by_judge else ()
    return _csv(csv_lines(sheet.rows(filters), RESULT_COLUMNS, seats), f"run-{pk}")


@needs("runs.export_results")
def download_judgments(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Download every judgment of the results that fit the filters, one per row."""
    found = human_scores_of(_sheet(request, pk), Filters.read(request.GET))
    return _csv(csv_lines(found, JUDGMENT_COLUMNS), f"run-{pk}-judgments")


def _csv(lines: Iterator[str], name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = _attachment(name, "csv")
    return response


@needs("runs.export_results")
def download_json(request: HttpRequest, pk: int) -> HttpResponse:
    """Download the report with all results that fit the filters, and their judgments."""
    sheet, filters = _sheet(request, pk), Filters.read(request.GET)
    report = run_report(sheet.run, filters, reader=sheet.reader)
    content = {
        **json_of(document_of_run(report, filters)),
        "results": [asdict(row) for row in sheet.rows(filters)],
        "judgments": [asdict(verdict) for verdict in human_scores_of(sheet, filters)],
    }
    response = JsonResponse(content)
    response["Content-Disposition"] = _attachment(f"run-{pk}", "json")
    return response


@needs("runs.export_results")
def download_junit(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Download the results that fit the filters as a JUnit report for build servers."""
    sheet, filters = _sheet(request, pk), Filters.read(request.GET)
    report = run_report(sheet.run, Filters(), reader=sheet.reader)
    lines = junit_lines(report, sheet.rows(filters))
    response = StreamingHttpResponse(lines, content_type="application/xml; charset=utf-8")
    response["Content-Disposition"] = _attachment(f"run-{pk}", "xml")
    return response


@needs("runs.export_results")
def download_markdown(request: HttpRequest, pk: int) -> HttpResponse:
    """Download all figures and the first results as Markdown."""
    return _written(request, pk, markdown_of, "text/markdown", "md")


@needs("runs.export_results")
def download_html(request: HttpRequest, pk: int) -> HttpResponse:
    """Download all figures, charts and the first results as one HTML file."""
    return _written(request, pk, html_of, "text/html", "html")


def _written(
    request: HttpRequest, pk: int, write: Callable[[Document], str], kind: str, ending: str
) -> HttpResponse:
    sheet, filters = _sheet(request, pk), Filters.read(request.GET)
    report = run_report(sheet.run, filters, reader=sheet.reader)
    document = document_of_run(report, filters, sheet.rows(filters))
    response = HttpResponse(write(document), content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = _attachment(f"run-{pk}", ending)
    return response


def _sheet(request: HttpRequest, pk: int) -> ResultTable:
    found = _run(pk)
    current = current_of(judge_runs_of(found))
    return ResultTable(found, current, current_user(request))


def _attachment(name: str, ending: str) -> str:
    return f'attachment; filename="{name}-{timezone.now():%Y%m%d-%H%M}.{ending}"'
