"""Schedule a report; show and download its snapshots."""

from dataclasses import replace

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_POST

from evalhub.access.roles import users_with
from evalhub.admin_site.pages import bounded_text, current_user, row_number
from evalhub.schedules import OWN, BadCron, ScheduleRefused, in_words, next_at
from reports.documents.origin import MAX_NAME, origin_of
from reports.documents.rendering import needs, page
from reports.models import ReportSchedule, Snapshot
from reports.models.schedule import validate_addresses
from reports.report_views import WRITERS, attached
from reports.schedules.snapshots import SUMMARY, newest_instead, opened, subject_of
from reports.summaries.requests import REQUEST_PERMISSION

MAX_STATE = 4_000
"""Characters of a page's query string; browsers hardly send more."""


@require_POST
@needs("reports.add_reportschedule")
def schedule(request: HttpRequest, key: str) -> HttpResponse:
    """Schedule a report with its current filters, or a summary like an existing one."""
    if key == SUMMARY and not request.user.has_perm(REQUEST_PERMISSION):
        raise PermissionDenied(f"You need the permission {REQUEST_PERMISSION}.")
    state = bounded_text(request.POST.get("state"), MAX_STATE)
    try:
        title, back = subject_of(key, state)
    except (ScheduleRefused, LookupError) as error:
        raise Http404(str(error)) from error
    try:
        state = newest_instead(key, state)
    except ScheduleRefused as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(back)
    report = ReportSchedule(page=key, query=state, requested_by=current_user(request))
    report.title = bounded_text(request.POST.get("title"), 150) or title[:150]
    when = request.POST.get("when", OWN)
    cron = request.POST.get("cron", "") if when == OWN else when
    report.cron = " ".join(cron.split())
    report.addresses = bounded_text(request.POST.get("addresses"), MAX_STATE)
    try:
        report.next_at = next_at(report.cron, timezone.now())
        validate_addresses(report.addresses)
    except (BadCron, ValidationError) as error:
        problems = error.messages if isinstance(error, ValidationError) else [str(error)]
        messages.error(request, " ".join(problems))
        return HttpResponseRedirect(back)
    report.save()
    chosen = [row_number(pk) for pk in request.POST.getlist("people")]
    report.people.set(users_with("runs.view_run").filter(pk__in=chosen))
    messages.success(request, f"“{report.title}” is scheduled: {in_words(report.cron)}.")
    return HttpResponseRedirect(reverse("admin:reports_reportschedule_change", args=[report.pk]))


@needs("reports.add_reportschedule")
def people(request: HttpRequest) -> HttpResponse:
    """Show whom else a schedule can notify."""
    others = users_with("runs.view_run").exclude(pk=current_user(request).pk)
    return render(request, "reports/schedules/people.html", {"people": others})


@needs("runs.view_run")
def snapshot(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a report as it was when the snapshot was made."""
    found = get_object_or_404(Snapshot.objects.select_related("report"), pk=pk)
    document = opened(found, current_user(request))
    may_export = request.user.has_perm("runs.export_results")
    return page(
        request,
        "reports/schedules/snapshot.html",
        found.report.title,
        subtitle=document.title,
        snapshot=found,
        document=document,
        may_export=may_export,
        csv_url=reverse("reports:snapshot_download", args=[pk, "csv"]) + "?" if may_export else "",
    )


@needs("runs.export_results")
def download_snapshot(request: HttpRequest, pk: int, ending: str) -> HttpResponseBase:
    """Download a snapshot as a file."""
    found = get_object_or_404(Snapshot, pk=pk)
    document = opened(found, current_user(request))
    origin = replace(origin_of(request, document, found.get_absolute_url()), made_at=found.made_at)
    name = f"snapshot-{pk}-{slugify(document.title)[:MAX_NAME]}"
    return attached(WRITERS[ending](request, document, origin), name, ending)
