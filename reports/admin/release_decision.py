from django.contrib import admin

from evalhub.admin_site.pages import ReadOnlyAdmin
from reports.models import ReleaseDecision


@admin.register(ReleaseDecision)
class ReleaseDecisionAdmin(ReadOnlyAdmin):
    """Decisions on releases, made on the page of the release."""

    when_empty = "Open Release against release and choose Ship… or Hold…."
    list_display = ("release", "act", "decided_by", "decided_at", "reason")
    list_filter = ("act",)
    list_select_related = ("release", "decided_by")
    search_fields = ("release__name", "reason")
