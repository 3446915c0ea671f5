from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextareaWidget

from evalhub.access.roles import users_with
from evalhub.admin_site.pages import PageAdmin
from evalhub.display.html import link
from evalhub.schedules import ScheduleRefused, cron_in, in_words, next_times
from evalhub.templatetags.schedules import suggested_schedules
from reports.models import ReportSchedule
from reports.schedules.snapshots import make, subject_of

CRON_HELP = (
    "Minute, hour, day of month, month, day of week, such as 0 6 * * 1 for Mondays at 06:00.{}"
)


class ReportScheduleForm(forms.ModelForm):
    class Meta:
        model = ReportSchedule
        fields = ("title", "cron", "is_paused", "people", "addresses", "has_open_links")
        widgets = {
            "people": forms.CheckboxSelectMultiple,
            "addresses": UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        }
        labels = {"cron": "Schedule", "is_paused": "Paused"}
        help_texts = {
            "is_paused": "No snapshot is made while the schedule is paused.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "cron" in self.fields:
            self.fields["cron"].widget.attrs["list"] = "usual-crons"
            self.fields["cron"].help_text = format_html(
                CRON_HELP, suggested_schedules("usual-crons")
            )
        if "has_open_links" in self.fields and not settings.EVALHUB_OPEN_LINKS:
            self.fields["has_open_links"].disabled = True
            self.fields["has_open_links"].help_text = "Off on this site: EVALHUB_OPEN_LINKS."
        if "people" in self.fields:
            self.fields["people"].queryset = users_with("runs.view_run")  # type: ignore[attr-defined]

    def clean_cron(self) -> str:
        return cron_in(self.cleaned_data["cron"], required=True)


@admin.register(ReportSchedule)
class ReportScheduleAdmin(PageAdmin):
    """Scheduled reports; each is scheduled on its own page."""

    when_empty = "Open a report and choose Schedule… to save a snapshot of it regularly."
    keeps_history = False
    form = ReportScheduleForm
    fields = (
        *("title", "cron", "is_paused", "people", "addresses", "has_open_links"),
        *("next_times", "last_outcome", "report", "requested_by"),
    )
    readonly_fields = ("next_times", "last_outcome", "report", "requested_by")
    list_display = ("title", "report", "schedule", "next_at", "last_outcome", "snapshot_count")
    search_fields = ("title",)
    list_select_related = ("requested_by",)
    change_form_after_template = "reports/schedules/snapshots.html"
    post_views = {"make": "<int:object_id>/make/"}

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: a report is scheduled on its own page, where its filters are set."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[ReportSchedule]:
        rows: QuerySet[ReportSchedule] = super().get_queryset(request)
        return rows.annotate(snapshot_total=Count("snapshots"))

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        report = self.get_object(request, object_id or "")
        snapshots = report.snapshots.defer("content") if report else ()
        context = {**(extra_context or {}), "snapshots": snapshots}
        return super().changeform_view(request, object_id, form_url, context)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if obj.is_paused:
            obj.pause()
        else:
            obj.resume()

    def make_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Make a snapshot now."""
        report = self.posted(request, object_id)
        try:
            self.say_done(request, make(report))
        except ScheduleRefused as refused:
            self.say(request, str(refused))
        return self.back(request, report)

    @display(description="Report")
    def report(self, row: ReportSchedule) -> str:
        """Link to the scheduled page."""
        try:
            title, url = subject_of(row.page, row.query)
        except (ScheduleRefused, LookupError) as gone:
            return str(gone)
        return link(url, title)

    @display(description="Schedule", ordering="cron")
    def schedule(self, row: ReportSchedule) -> str:
        return f"{in_words(row.cron)}{' (paused)' if row.is_paused else ''}"

    @display(description="Upcoming")
    def next_times(self, row: ReportSchedule) -> str:
        if row.is_paused:
            return "none while paused"
        times = next_times(row.cron, timezone.now(), 3)
        return ", ".join(f"{time:%a %d %b %Y, %H:%M}" for time in times)

    @display(description="Snapshots", ordering="snapshot_total")
    def snapshot_count(self, row: ReportSchedule) -> int:
        return int(row.snapshot_total)  # type: ignore[attr-defined]
