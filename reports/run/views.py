"""The page of one run, its progress and its downloads."""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Count
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    JsonResponse,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import slugify

from evalhub.admin_site.pages import current_user
from evalhub.files.export_files import FORMATS, Export, export_response
from evalhub.work.leases import workers_alive
from evalhub.work.overview import outages
from reports.documents.document import Link
from reports.documents.exports import json_of
from reports.documents.links import page_url, row_url, run_url
from reports.documents.origin import Origin, absolute
from reports.documents.rendering import needs, page
from reports.queries.result_rows import ResultTable
from reports.report_views import TABLE, WRITERS, attached
from reports.run.exports import JUDGMENT_COLUMNS, RESULT_COLUMNS, csv_lines, judgment_rows
from reports.run.junit import IN_ORDER, junit_lines
from reports.run.page import document_of_run
from reports.run.progress_query import progress_of
from reports.run.query import change_of, judge_runs_of, run_report
from reports.templatetags.report import result_query
from runs.comparison.comparability import rejudge_url
from runs.comparison.scoring_versions import judged_earlier
from runs.exported_scripts.launches import script_of_run
from runs.figures.states import current_of
from runs.lifecycle.control import has_checks
from runs.models import Jury, Run
from runs.result_list.filters import Filters
from runs.result_list.sorting import SORTS

OVERVIEW, RESULTS, EVERYTHING = "overview", "results", "all"
TABS = {
    OVERVIEW: ("Overview", ("outcomes",)),
    "issues": ("Issues", ("issues", "flaky", "weights")),
    "tags": ("Tags", ("domains", "tags", "origins", "sealing")),
    RESULTS: ("Results", ("overrides",)),
    "cost": ("Cost", ("usage", "percentiles", "latency", "cost", "errors", "refused_parameters")),
    "setup": (
        "Set-up",
        ("settings", "judges", "agreement", "partly_judged", "judge_errors", "judge_runs"),
    ),
}
"""The title of each tab, and the keys of its tables."""

CSV = "text/csv; charset=utf-8"


def _run(pk: int) -> Run:
    related = ("launch", "suite", "suite_version__suite", "requested_by")
    return get_object_or_404(Run.objects.select_related(*related), pk=pk)


@needs("runs.view_run")
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """The report of a run: the tab that the address asks for; htmx gets that alone."""
    found = _run(pk)
    content = content_of(request, found)
    if "HX-Request" in request.headers:
        return TemplateResponse(request, "reports/run/tab.html", content)
    return page(request, "reports/run/page.html", found.label, subtitle="Run report", **content)


def content_of(request: HttpRequest, run: Run) -> dict[str, Any]:
    """Return the context of the page's template."""
    filters = Filters.read(request.GET)
    tab = tab_of(request, filters)
    is_whole = tab == EVERYTHING
    report = run_report(run, filters, reader=current_user(request))
    keys = [key for name, (_, keys) in TABS.items() if tab in (name, EVERYTHING) for key in keys]
    document = document_of_run(report, filters, keys=keys, in_words=is_whole or tab == OVERVIEW)
    may_control = request.user.has_perm("runs.control_run")
    if may_control and report.current and judged_earlier(report.current.provenance_parts):
        again = Link("Re-judge with the same jury…", rejudge_url(run.pk, run.pk))
        document = replace(document, actions=(*document.actions, again))
    may_export = request.user.has_perm("runs.export_results")
    is_live = report.progress.is_live
    return {
        "report": report,
        "document": document,
        "tab": tab,
        "tabs": {name: title for name, (title, _) in TABS.items()},
        "is_overview": is_whole or tab == OVERVIEW,
        "has_grid": is_whole or tab == RESULTS,
        "run": run,
        "filters": filters,
        "sorts": SORTS,
        "may_export": may_export,
        "csv_url": f"{reverse('reports:run_csv', args=[run.pk])}?" if may_export else "",
        "may_control": may_control,
        "control_url": reverse("admin:runs_run_control", args=[run.pk]),
        "juries": Jury.objects.filter(is_active=True) if may_control else (),
        "has_checks": may_control and has_checks(run),
        "is_stuck": is_live and not workers_alive(),
        "outages": outages([run, *judge_runs_of(run)]) if is_live else [],
    }


def tab_of(request: HttpRequest, filters: Filters) -> str:
    """Return the tab that is asked for: the results where the address only filters them."""
    asked = request.GET.get("tab", "")
    if asked in TABS or asked == EVERYTHING:
        return asked
    return RESULTS if filters.query(page=filters.page) else OVERVIEW


@needs("runs.view_run")
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Show in one line how the run compares with its predecessor, or redirect to Compare."""
    found = _run(pk)
    if "HX-Request" not in request.headers:
        return HttpResponseRedirect(page_url("compare", runs=[found]))
    shown = {"change": change_of(found, current_user(request))}
    return TemplateResponse(request, "reports/run/change.html", shown)


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
    context = {"run": sheet.run, "grid": sheet.page(filters), "filters": filters, "is_part": True}
    return TemplateResponse(request, "reports/run/result_rows.html", context)


@needs("runs.view_run")
def first(request: HttpRequest, pk: int) -> HttpResponse:
    """Redirect to the first readable result that fits the filters; from there on it is next."""
    filters, sheet = Filters.read(request.GET), _sheet(request, pk)
    shown = (row for row in sheet.page(filters).rows if row.prompt is not None)
    if found := next(shown, None):
        query = result_query(sheet.run, filters)
        return HttpResponseRedirect(
            f"{row_url('admin:runs_result_change', found.result_id)}?{query}"
        )
    return HttpResponseRedirect(f"{run_url(sheet.run)}?{filters.query()}#results")


@needs("runs.export_results")
def download_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Download all results that fit the filters, or one table of the report, as CSV."""
    if TABLE in request.GET:
        report = run_report(_run(pk), Filters(), reader=current_user(request))
        origin = _origin(request, report.run, Filters())
        response = WRITERS["csv"](request, document_of_run(report), origin)
        return attached(response, _file_name(origin, request.GET[TABLE]), "csv")
    sheet, filters, origin = _asked(request, pk)
    judge_columns = sheet.judge_columns() if filters.by_judge else ()
    lines = csv_lines(sheet.rows(filters), RESULT_COLUMNS, origin, judge_columns)
    return _streamed(lines, CSV, _file_name(origin), "csv")


@needs("runs.export_results")
def download_judgments(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Download every judgment of the results that fit the filters, one per row."""
    sheet, filters, origin = _asked(request, pk)
    lines = csv_lines(judgment_rows(sheet, filters), JUDGMENT_COLUMNS, origin)
    return _streamed(lines, CSV, _file_name(origin, "judgments"), "csv")


@needs("runs.export_results")
def download_junit(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Download the results that fit the filters as a JUnit report for build servers."""
    sheet, filters, origin = _asked(request, pk)
    report = run_report(sheet.run, Filters(), reader=sheet.reader)
    outcomes = sheet.matching(filters).order_by().values_list("outcome")
    counts = dict(outcomes.annotate(n=Count("pk")))
    lines = junit_lines(report, sheet.rows(filters, *IN_ORDER), counts, origin)
    return _streamed(lines, "application/xml; charset=utf-8", _file_name(origin), "xml")


@needs("runs.export_results")
def download(request: HttpRequest, pk: int, ending: str) -> HttpResponseBase:
    """Download the report: Markdown and HTML with the first results, JSON with all that fit."""
    sheet, filters, origin = _asked(request, pk)
    report = run_report(sheet.run, filters, reader=sheet.reader)
    if ending != "json":
        document = document_of_run(report, filters, sheet.rows(filters))
        return attached(WRITERS[ending](request, document, origin), _file_name(origin), ending)
    content = {
        **json_of(document_of_run(report, filters)),
        **origin.as_json,
        "results": [asdict(row) for row in sheet.rows(filters)],
        "judgments": [asdict(verdict) for verdict in judgment_rows(sheet, filters)],
    }
    return attached(JsonResponse(content), _file_name(origin), ending)


@needs("runs.export_results")
def download_lines(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Download the results that fit the filters, a JSON object per line."""
    sheet, filters, origin = _asked(request, pk)
    rows = sheet.rows(filters)
    lines = (f"{json.dumps(asdict(row), cls=DjangoJSONEncoder)}\n" for row in rows)
    return _streamed(lines, FORMATS["jsonl"][2], _file_name(origin), "jsonl")


@needs("runs.export_results")
def download_script(request: HttpRequest, pk: int, ending: str) -> HttpResponseBase:
    """Download a script or notebook that launches the run again."""
    script = script_of_run(request.build_absolute_uri("/"), _run(pk))
    return export_response(ending, f"run {pk}", Export((), None, script))


def _asked(request: HttpRequest, pk: int) -> tuple[ResultTable, Filters, Origin]:
    """Return the results that a file is asked of, how they are filtered, and its origin."""
    sheet, filters = _sheet(request, pk), Filters.read(request.GET)
    return sheet, filters, _origin(request, sheet.run, filters)


def _streamed(lines: Iterator[str], form: str, name: str, ending: str) -> HttpResponseBase:
    return attached(StreamingHttpResponse(lines, content_type=form), name, ending)


def _origin(request: HttpRequest, run: Run, filters: Filters) -> Origin:
    """Return the origin of a file of this run, with the page's view of the results."""
    path = f"{run.get_absolute_url()}?{filters.query()}".rstrip("?")
    return Origin(absolute(request, path), (run.pk,))


def _file_name(origin: Origin, part: str = "") -> str:
    return "-".join(filter(None, (origin.file_name("run", ""), slugify(part))))


def _sheet(request: HttpRequest, pk: int) -> ResultTable:
    found = _run(pk)
    current = current_of(judge_runs_of(found))
    return ResultTable(found, current, current_user(request))
