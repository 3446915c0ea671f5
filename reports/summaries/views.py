"""Pages of executive summaries: the list, one summary, its transcripts, and the request."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST

from evalhub.admin_site.pages import bounded_text, current_user, row_number
from evalhub.models import LanguageModel
from evalhub.refusals import NotPossible
from evalhub.work.leases import workers_alive
from reports.documents.origin import file_slug, origin_of
from reports.documents.rendering import needs, page
from reports.limits import MAX_SUMMARISED_RUNS
from reports.models import Exchange, ExecutiveSummary
from reports.report_views import WRITERS, attached
from reports.summaries.document import claims_table, document_of
from reports.summaries.query import summary_lines, view_of
from reports.summaries.requests import (
    REQUEST_PERMISSION,
    SummaryRefused,
    ask_again,
    ask_summary,
    cancel,
    estimate_of,
    offered,
    state_like,
    usual_context,
)
from runs.models import Run


def _summary(pk: int) -> ExecutiveSummary:
    rows = ExecutiveSummary.objects.select_related("suite", "requested_by", "analyst")
    return get_object_or_404(rows, pk=pk)


@needs("runs.view_run")
def summaries(request: HttpRequest) -> HttpResponse:
    """List executive summaries, newest first, with the grades of the newest that has any."""
    may_ask = request.user.has_perm(REQUEST_PERMISSION)
    run = Run.objects.filter(pk=row_number(request.GET.get("run"))).first()
    number = row_number(request.GET.get("page")) or 1
    lines = summary_lines(number, may_ask=may_ask, run=run.pk if run else None)
    done = [line.summary for line in lines.object_list if line.graded]
    return page(
        request,
        "reports/summaries/list.html",
        "Executive summaries",
        lines=lines,
        view=view_of(done[0], current_user(request)) if done and number == 1 else None,
        run=run,
        may_ask=may_ask,
        is_stuck=any(line.state.is_live for line in lines.object_list) and not workers_alive(),
    )


@needs("runs.view_run")
def summary(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a summary; while it is live, the page polls and is reloaded when its state changes."""
    view = view_of(_summary(pk), current_user(request))
    if "HX-Request" in request.headers:
        has_changed = request.GET.get("state") != view.state.word
        return HttpResponse(status=204, headers={"HX-Refresh": "true"} if has_changed else {})
    return page(
        request,
        "reports/summaries/summary.html",
        view.title,
        subtitle="Executive summary",
        view=view,
        summary=view.summary,
        claims=claims_table(view),
        may_ask=request.user.has_perm(REQUEST_PERMISSION),
        may_export=request.user.has_perm("runs.export_results"),
        may_schedule=bool(view.summary.suite_id)
        and request.user.has_perm("reports.add_reportschedule"),
        schedule_state=state_like(view.summary),
        is_stuck=view.state.is_live and not workers_alive(),
    )


@needs("runs.view_run")
def exchange(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Show the request to the analyst and its reply, unchanged."""
    readable = Exchange.objects.readable_by(request.user).select_related("summary", "call")
    found = get_object_or_404(readable, summary=pk, number=number)
    view = view_of(_summary(pk), current_user(request))
    return page(
        request,
        "reports/summaries/exchange.html",
        view.title,
        subtitle=f"Exchange {number}",
        view=view,
        exchange=found,
        may_ask=request.user.has_perm(REQUEST_PERMISSION),
    )


@needs("runs.export_results")
def download(request: HttpRequest, pk: int, ending: str) -> HttpResponseBase:
    """Download the summary as a file."""
    document = document_of(view_of(_summary(pk), current_user(request)))
    origin = origin_of(request, document, reverse("reports:summary", args=[pk]))
    name = f"summary-{pk}-{file_slug(document.title)}"
    return attached(WRITERS[ending](request, document, origin), name, ending)


@require_POST
@needs(REQUEST_PERMISSION)
def act(request: HttpRequest, pk: int) -> HttpResponse:
    """Regenerate the summary, or cancel it."""
    found = _summary(pk)
    try:
        if request.POST.get("act") == "cancel":
            cancel(found)
            messages.success(request, "The summary was cancelled.")
        else:
            ask_again(found)
            messages.success(request, f"{found.analyst_name} regenerates the summary.")
    except NotPossible as refused:
        messages.error(request, str(refused))
    return HttpResponseRedirect(reverse("reports:summary", args=[pk]))


# Requests ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SummaryDraftRequest:
    """The state of the form. `analyst` None: not chosen yet. `problem`: an error in it."""

    runs: list[Run]
    analyst: LanguageModel | None
    context_tokens: int
    problem: str = ""


def draft_request_of(state: QueryDict) -> SummaryDraftRequest:
    """Read the form's state; without runs, those launched together with the run `with`."""
    numbers = [row_number(number) for number in state.getlist("runs")][: MAX_SUMMARISED_RUNS + 1]
    found = Run.objects.select_related("suite").in_bulk([number for number in numbers if number])
    runs = [found[number] for number in numbers if number in found]
    if not runs and (launched := Run.objects.filter(pk=row_number(state.get("with"))).first()):
        same_tests = Run.objects.filter(suite_fingerprint=launched.suite_fingerprint)
        siblings = same_tests.filter(launch=launched.launch_id).order_by("pk")
        runs = list(siblings) if launched.launch_id else [launched]
    active = LanguageModel.objects.active().not_applications()
    analyst = active.filter(pk=row_number(state.get("analyst"))).first()
    written = state.get("context", "").strip().replace(",", "")
    tokens = row_number(written)
    problem = f"Enter a number of tokens, not {written!r:.40}." if written and not tokens else ""
    usual = usual_context(analyst) if analyst else 0
    return SummaryDraftRequest(runs, analyst, tokens or usual, problem)


@needs(REQUEST_PERMISSION)
def ask(request: HttpRequest) -> HttpResponse:
    """Choose runs of one suite and an analyst, preview the request, and send it."""
    if request.method == "POST":
        return _request(request)
    wanted = draft_request_of(request.GET)
    search = bounded_text(request.GET.get("q"), 100)
    return page(
        request,
        "reports/summaries/request.html",
        "Request an executive summary",
        wanted=wanted,
        chosen={run.pk for run in wanted.runs},
        search=search,
        groups=offered(search, wanted.runs),
        analysts=LanguageModel.objects.active().not_applications().order_by("name"),
        estimate=estimate_of(wanted.runs, wanted.analyst, wanted.context_tokens)
        if wanted.runs and wanted.analyst and not wanted.problem
        else None,
    )


def _request(request: HttpRequest) -> HttpResponse:
    wanted = draft_request_of(request.POST)
    try:
        if wanted.analyst is None:
            raise SummaryRefused("Choose an analyst.")
        made = ask_summary(
            wanted.runs,
            analyst=wanted.analyst,
            by=current_user(request),
            context_tokens=wanted.context_tokens,
        )
    except SummaryRefused as refused:
        messages.error(request, str(refused))
        form = reverse("reports:summary_ask")
        return HttpResponseRedirect(f"{form}?{request.POST.urlencode()}")
    messages.success(
        request, f"Sent to {made.analyst_name}. This page shows the summary when it is ready."
    )
    return HttpResponseRedirect(made.get_absolute_url())
