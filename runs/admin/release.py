from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from unfold.decorators import display

from evalhub.admin_site.history import HistoryAdmin
from evalhub.display.html import link
from runs.models import Release, Run


class ReleaseForm(forms.ModelForm):
    class Meta:
        model = Release
        fields = ("name", "before", "position", "notes")


@admin.register(Release)
class ReleaseAdmin(HistoryAdmin):
    """Releases: their order, predecessors and notes."""

    when_empty = "A launch that names a release adds it here."
    form = ReleaseForm
    list_display = ("name", "came_from", "run_link", "created_at")
    list_select_related = ("before",)
    search_fields = ("name", "notes")
    autocomplete_fields = ("before",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Release]:
        runs = Run.objects.filter(release=OuterRef("name")).order_by().values("release")
        n_runs = Coalesce(Subquery(runs.annotate(n=Count("pk")).values("n")), 0)
        rows: QuerySet[Release] = super().get_queryset(request)
        return rows.annotate(n_runs=n_runs)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Keep the name, which runs have, and the place of versions, which order themselves."""
        by_version = ("position",) if obj is None or Release.objects.are_versions() else ()
        return (*(("name",) if obj else ()), *by_version)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow it only for one release without runs."""
        is_unused = obj is not None and not Run.objects.filter(release=obj.name).exists()
        return is_unused and bool(super().has_delete_permission(request, obj))

    def save_model(self, request: HttpRequest, obj: Release, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        Release.objects.arrange(obj)

    @display(description="Predecessor")
    def came_from(self, release: Release) -> str:
        return str(release.before or "the next lower")

    @display(description="Runs", ordering="n_runs")
    def run_link(self, release: Release) -> SafeString:
        url = f"{reverse('admin:runs_run_changelist')}?{urlencode({'q': release.name})}"
        return link(url, release.n_runs)  # type: ignore[attr-defined]
