"""Schedule a report; show and download its snapshots."""

from dataclasses import replace

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_POST

from evalhub.admin_site.pages import bounded_text, current_user
from evalhub.schedules import BadCron, ScheduleRefused, in_words, next_at
from reports.documents.origin import MAX_NAME, origin_of
from reports.documents.rendering import needs, page
from reports.documents.storage import restored
from reports.models import ReportSchedule, Snapshot
from reports.report_views import WRITERS, attached
from reports.schedules.snapshots import SUMMARY, subject_of
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
    report = ReportSchedule(page=key, query=state, requested_by=current_user(request))
    report.title = bounded_text(request.POST.get("title"), 150) or title[:150]
    report.cron = " ".join(request.POST.get("cron", "").split())
    try:
        report.next_at = next_at(report.cron, timezone.now())
    except BadCron as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(back)
    report.save()
    messages.success(request, f"“{report.title}” is scheduled: {in_words(report.cron)}.")
    return HttpResponseRedirect(reverse("admin:reports_reportschedule_change", args=[report.pk]))


@needs("runs.view_run")
def snapshot(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a report as it was when the snapshot was made."""
    found = get_object_or_404(Snapshot.objects.select_related("report"), pk=pk)
    document = restored(found.content)
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
    document = restored(found.content)
    origin = replace(origin_of(request, document, found.get_absolute_url()), made_at=found.made_at)
    name = f"snapshot-{pk}-{slugify(document.title)[:MAX_NAME]}"
    return attached(WRITERS[ending](request, document, origin), name, ending)
