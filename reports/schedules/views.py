"""Schedule a report; show and download its snapshots."""

import logging
from dataclasses import replace
from http import HTTPStatus

from csp.constants import NONE, UNSAFE_INLINE
from csp.decorators import csp
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from evalhub.access.client_addresses import client_network
from evalhub.access.request_limits import expensive
from evalhub.access.roles import users_with
from evalhub.admin_site.pages import bounded_text, current_user, row_number
from evalhub.display.formatting import few
from evalhub.schedules import OWN, BadCron, ScheduleRefused, next_at
from evalhub.values.typed_json import from_json
from reports.documents.document import Document
from reports.documents.origin import Origin, absolute, origin_of
from reports.documents.rendering import needs, page
from reports.handout.rendering import html_of_handout
from reports.models import ReportSchedule, Snapshot
from reports.models.schedule import validate_addresses
from reports.report_views import WRITERS, attached
from reports.schedules.open_links import LinkEnded, UnknownLink, snapshot_of
from reports.schedules.snapshots import SUMMARY, newest_instead, opened, subject_of
from reports.summaries.requests import REQUEST_PERMISSION

log = logging.getLogger(__name__)

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
    report.has_open_links = "has_open_links" in request.POST
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
    messages.success(request, _scheduled(report))
    return HttpResponseRedirect(back)


def _scheduled(report: ReportSchedule) -> str:
    """Return when and to whom the first snapshot goes."""
    to = few([*map(str, report.people.all()), *report.address_list])
    at = date_format(timezone.localtime(report.next_at), "l j F, H:i")
    return f"“{report.title}” is scheduled. Next: {at}{to and f' to {to}'}."


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
    found = get_object_or_404(Snapshot.objects.select_related("report"), pk=pk)
    document = opened(found, current_user(request))
    origin = replace(origin_of(request, document, found.get_absolute_url()), made_at=found.made_at)
    name = origin.file_name(found.report.page, document.title)
    return attached(WRITERS[ending](request, document, origin), name, ending, found.made_at)


@csp({"default-src": [NONE], "style-src": [UNSAFE_INLINE]})
@expensive
@never_cache
@require_safe
def open_snapshot(request: HttpRequest) -> HttpResponse:
    """Show a snapshot on one page to whoever has its signed link, without an account."""
    try:
        found = snapshot_of(request.GET.get("link", ""))
    except LinkEnded:
        return render(request, "reports/schedules/link_ended.html", status=HTTPStatus.GONE)
    except UnknownLink as error:
        raise Http404("There is no such link.") from error
    log.info("Snapshot %s was opened by its link from %s.", found.pk, client_network(request))
    document = from_json(Document, found.content)
    origin = Origin(absolute(request, found.get_absolute_url()), made_at=found.made_at)
    headers = {"X-Robots-Tag": "noindex, nofollow", "Referrer-Policy": "no-referrer"}
    return HttpResponse(html_of_handout(document, origin), headers=headers)
