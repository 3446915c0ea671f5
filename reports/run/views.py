"""The page of one run, what it polls while the run works, and its downloads."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from evalhub.admin_site.pages import current_user
from evalhub.charts import Figure, OutcomeRow, tag_bars
from evalhub.work.leases import workers_alive
from reports.documents.document import Document
from reports.documents.exports import markdown_of
from reports.documents.html_export import html_of
from reports.documents.rendering import needs, page
from reports.queries.result_rows import RESULT_COLUMNS, ResultTable
from reports.report_views import COMPUTE
from reports.run.cost_query import Cost
from reports.run.exports import csv_lines, report_json
from reports.run.figure import binned_costs, binned_times, outcome_ring
from reports.run.judgments_query import JUDGMENT_COLUMNS, human_scores_of
from reports.run.junit import junit_lines
from reports.run.latency_query import Latency
from reports.run.page import document_of_run
from reports.run.progress_query import progress_of
from reports.run.query import RunReport, judge_runs_of, run_report
from runs.figures.filters import SORTS, Filters
from runs.figures.states import current_of
from runs.models import Jury, Run

FEW, SHOWN, MOST_SHOWN = 10, 20, 1_000
"""Lines of a table that are shown at first, and where all are asked for."""


def _run(pk: int) -> Run:
    return get_object_or_404(Run.objects.select_related("launch", "suite", "requested_by"), pk=pk)


@needs("runs.view_run")
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """How did this model do in this run?"""
    filters = Filters.read(request.GET)
    computes = COMPUTE in request.GET
    report = run_report(_run(pk), filters, reader=current_user(request), computes=computes)
    return page(
        request,
        "reports/run/page.html",
        report.run.label,
        subtitle="Run report",
        report=report,
        run=report.run,
        filters=filters,
        sorts=SORTS,
        figures=_figures(report),
        lines=_lines(report, all_lines=filters.all_lines),
        **_controls(request, report),
    )


def _lines(report: RunReport, *, all_lines: bool) -> dict[str, Sequence[Any]]:
    """The lines of each table that are shown."""
    most = MOST_SHOWN if all_lines else SHOWN
    flaky = report.flaky.tests if report.flaky else ()
    return {
        "issues": report.issues[:most],
        "tags": report.tags[:most],
        "domains": report.domains[:most],
        "flaky": flaky[:most],
        "overrides": report.overrides if all_lines else report.overrides[:FEW],
    }


def _controls(request: HttpRequest, report: RunReport) -> dict[str, Any]:
    """What this person may do to the run, and who is there to do the work."""
    may_control = request.user.has_perm("runs.control_run")
    return {
        "may_control": may_control,
        "may_export": request.user.has_perm("runs.export_results"),
        "control_url": reverse("admin:runs_run_control", args=[report.run.pk]),
        "juries": Jury.objects.filter(is_active=True) if may_control else (),
        "is_stuck": report.progress.is_live and not workers_alive(),
    }


def _figures(report: RunReport) -> dict[str, Any]:
    """Plotly figures by the id of the element that holds their JSON; None: nothing to draw."""
    counts = report.counts.as_dict()
    tags = [OutcomeRow(line.name, line.name, line.counts.as_dict()) for line in report.tags]
    return {
        "outcomes": outcome_ring(counts) if report.counts.total else None,
        "tags": tag_bars(tags) if tags else None,
        "latency": _times(report.latency) if report.latency else None,
        "cost": _costs(report.cost) if report.cost else None,
    }


def _times(latency: Latency) -> Figure:
    return binned_times([(bar.from_ms, bar.to_ms, bar.n) for bar in latency.bars])


def _costs(cost: Cost) -> Figure:
    return binned_costs(cost.free, [(bar.from_usd, bar.to_usd, bar.n) for bar in cost.bars])


@needs("runs.view_run")
def progress(request: HttpRequest, pk: int) -> HttpResponse:
    """How far the run has come, as JSON, for the page to ask again and again."""
    found = _run(pk)
    return JsonResponse(progress_of(found, judge_runs_of(found)).as_json())


@needs("runs.view_run")
def rows(request: HttpRequest, pk: int) -> HttpResponse:
    """The grid alone, such as the results of one issue."""
    filters = Filters.read(request.GET)
    sheet = _sheet(request, pk)
    grid = sheet.page(filters)
    context = {"run": sheet.run, "grid": grid, "filters": filters, "is_part": True}
    return TemplateResponse(request, "reports/run/result_rows.html", context)


@needs("runs.export_results")
def download_csv(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """What the grid shows, all pages of it, as a table for a spreadsheet."""
    sheet, filters = _sheet(request, pk), Filters.read(request.GET)
    seats = sheet.seats() if filters.by_judge else ()
    return _csv(csv_lines(sheet.rows(filters), RESULT_COLUMNS, seats), f"run-{pk}")


@needs("runs.export_results")
def download_judgments(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Every judgment of the results that the grid shows: criterion by criterion, judge by judge."""
    found = human_scores_of(_sheet(request, pk), Filters.read(request.GET))
    return _csv(csv_lines(found, JUDGMENT_COLUMNS), f"run-{pk}-judgments")


def _csv(lines: Iterator[str], name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = _attachment(name, "csv")
    return response


@needs("runs.export_results")
def download_json(request: HttpRequest, pk: int) -> HttpResponse:
    """The report's figures, the rows that the grid shows, all pages of it, and their judgments."""
    filters = Filters.read(request.GET)
    report = run_report(_run(pk), filters, reader=current_user(request))
    sheet = _sheet(request, pk)
    judgments = [asdict(verdict) for verdict in human_scores_of(sheet, filters)]
    response = JsonResponse({**report_json(report, sheet.rows(filters)), "judgments": judgments})
    response["Content-Disposition"] = _attachment(f"run-{pk}", "json")
    return response


@needs("runs.export_results")
def download_junit(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """The rows that the grid shows, all pages of it, as a report of tests for build servers."""
    sheet, filters = _sheet(request, pk), Filters.read(request.GET)
    report = run_report(sheet.run, Filters(), reader=sheet.reader)
    lines = junit_lines(report, sheet.rows(filters))
    response = StreamingHttpResponse(lines, content_type="application/xml; charset=utf-8")
    response["Content-Disposition"] = _attachment(f"run-{pk}", "xml")
    return response


@needs("runs.export_results")
def download_markdown(request: HttpRequest, pk: int) -> HttpResponse:
    """All figures and the first results as Markdown."""
    return _written(request, pk, markdown_of, "text/markdown", "md")


@needs("runs.export_results")
def download_html(request: HttpRequest, pk: int) -> HttpResponse:
    """The same as one HTML file with its charts."""
    return _written(request, pk, html_of, "text/html", "html")


def _written(
    request: HttpRequest, pk: int, write: Callable[[Document], str], kind: str, ending: str
) -> HttpResponse:
    sheet, filters = _sheet(request, pk), Filters.read(request.GET)
    report = run_report(sheet.run, filters, reader=sheet.reader)
    document = document_of_run(report, sheet.rows(filters), narrows=filters.narrows)
    response = HttpResponse(write(document), content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = _attachment(f"run-{pk}", ending)
    return response


def _sheet(request: HttpRequest, pk: int) -> ResultTable:
    found = _run(pk)
    current = current_of(judge_runs_of(found))
    return ResultTable(found, current, current_user(request))


def _attachment(name: str, ending: str) -> str:
    return f'attachment; filename="{name}-{timezone.now():%Y%m%d-%H%M}.{ending}"'
