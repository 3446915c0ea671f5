from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from unfold.decorators import display

from evalhub.admin_site.contributions import ExtensibleAdmin
from evalhub.admin_site.pages import require
from evalhub.display.formatting import DASH
from runs.admin.jury.form import PUT_TOGETHER, JuryForm
from runs.launching.launch_selection import backup_of_one_model
from runs.models import Jury


@admin.register(Jury)
class JuryAdmin(ExtensibleAdmin):
    when_empty = "A jury scores answers; human verdicts override it."
    instead_of_deleting = "Deactivate a jury that you no longer use."
    form = JuryForm
    list_display = ("name", "judge_names", "backup_name", "is_active", "created_at")
    list_filter = ("is_active",)
    search_fields = ("name",)
    change_form_after_template = "runs/jury/preview.html"
    fieldsets = (
        (None, {"fields": ("name", "models", "approaches", "backup_model", "is_active")}),
        (
            "Calls",
            {
                "fields": (
                    *("method", "role", "temperatures", "samples"),
                    *("whole_prompt", "criterion_prompt", "params"),
                )
            },
        ),
    )
    views = {"preview": "preview/"}

    class Media:
        css = {"all": ("evalhub/result.css", "evalhub/launch.css")}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Jury]:
        return Jury.objects.with_judges()

    def preview_view(self, request: HttpRequest) -> HttpResponse:
        """Return the calls of the jury in the form, saved or not."""
        require(self.has_add_permission(request))
        return render(
            request, "runs/jury/_preview.html", {"preview": JuryForm(request.POST).preview}
        )

    @display(description="Judges")
    def judge_names(self, jury: Jury) -> str:
        return ", ".join(judge.label for judge in jury.judges.all()) or "none yet"

    @display(description="Backup", ordering="backup")
    def backup_name(self, jury: Jury) -> str:
        return jury.backup.label if jury.backup else DASH

    def get_fieldsets(self, request: HttpRequest, obj: Jury | None = None) -> Any:
        if obj is not None and not self.has_change_permission(request, obj):
            return ((None, {"fields": ("name", "judge_names", "backup_name", "is_active")}),)
        return self.fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Jury | None = None) -> Any:
        return ("judge_names", "backup_name")

    def save_model(self, request: HttpRequest, obj: Jury, form: JuryForm, change: bool) -> None:
        if {"backup_model", "params", "whole_prompt"} & set(form.changed_data):
            obj.backup = form.backup()
        super().save_model(request, obj, form, change)

    def save_related(
        self, request: HttpRequest, form: JuryForm, formsets: Any, change: bool
    ) -> None:
        """Set the judges; earlier judge runs keep their own copy of the jury."""
        super().save_related(request, form, formsets, change)
        if not change or PUT_TOGETHER & set(form.changed_data):
            form.instance.judges.set(form.judges())
        for warning in backup_of_one_model(form.instance.judges.all(), form.instance.backup):
            messages.warning(request, warning)
